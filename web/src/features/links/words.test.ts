import { expect, it } from "vitest";
import { decidedByCoffer, effect, likely, meaning, share, sorted } from "./words";

const link = { kind: "mirror", primary_account_name: "Visa", mirror_account_name: "Partner card" } as const;

it("says what totals do, before and after", () => {
  expect(meaning(link)).toBe("Partner card repeats transactions from Visa, like an additional card.");
  expect(effect({ ...link, confidence: "auto" })).toBe(
    "For now, totals count everything. If you confirm, they exclude Partner card’s transactions.",
  );
  expect(effect({ ...link, confidence: "confirmed" })).toBe("Totals exclude Partner card’s transactions.");
  expect(effect({ ...link, kind: "transfer", confidence: "confirmed" })).toBe("Totals exclude both sides.");
});

it("puts first what waits", () => {
  const links = [
    { confidence: "confirmed", unsure: 0 },
    { confidence: "auto", unsure: 0 },
    { confidence: "rejected", unsure: 0 },
    { confidence: "confirmed", unsure: 2 },
  ] as const;
  expect(sorted(links).unsure).toEqual([links[3]]);
  expect(sorted(links).waiting).toEqual([links[1]]);
  expect(sorted(links).decided).toEqual([links[0], links[2]]);
});

it("says how much of what could match does", () => {
  const evidence = { candidates: 51, matched: 50, agreeing: 0, share: 98, pairs: [] };
  const waits = { ...link, evidence, confidence: "auto", source: null } as const;
  expect(share(waits)).toBe("98% match: 50 of 51 transactions in Partner card.");
  expect(share({ ...waits, kind: "transfer" })).toBe(
    "Last check: 50 of 51 transactions that could be transfers match (98%), 0 on the same day.",
  );
  expect(share({ ...waits, kind: "transfer", confidence: "confirmed", source: "rule" })).toBe(
    "When coffer linked them, 50 of 51 transactions that could be transfers matched, 0 on the same day.",
  );
  expect(share({ ...waits, evidence: null })).toBe("");
});

it("knows what coffer decided by itself", () => {
  expect(decidedByCoffer({ confidence: "confirmed", source: "rule" })).toBe(true);
  expect(decidedByCoffer({ confidence: "confirmed", source: "user" })).toBe(false);
  expect(decidedByCoffer({ confidence: "auto", source: null })).toBe(false);
});

it("picks transfers that mostly match, and no duplicates", () => {
  const of = (share: number) => ({ candidates: 100, matched: share, agreeing: 0, share, pairs: [] });
  expect(likely({ kind: "transfer", evidence: of(80) })).toBe(true);
  expect(likely({ kind: "transfer", evidence: of(79) })).toBe(false);
  expect(likely({ kind: "transfer", evidence: null })).toBe(false);
  expect(likely({ kind: "mirror", evidence: of(100) })).toBe(false);
});
