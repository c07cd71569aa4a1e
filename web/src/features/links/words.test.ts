import { expect, it } from "vitest";
import { effect, meaning, sorted } from "./words";

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
  const links = [{ confidence: "confirmed" }, { confidence: "auto" }, { confidence: "rejected" }] as const;
  expect(sorted(links).waiting).toEqual([links[1]]);
  expect(sorted(links).decided).toEqual([links[0], links[2]]);
});
