import { expect, it } from "vitest";
import { effect, meaning, sorted } from "./words";

const link = { kind: "mirror", primary_account_name: "Visa", mirror_account_name: "Partner card" } as const;

it("says what totals do, before and after", () => {
  expect(meaning(link)).toBe("Partner card repeats payments of Visa, as a second card does.");
  expect(effect({ ...link, confidence: "auto" })).toContain("Until you decide, totals count them all");
  expect(effect({ ...link, confidence: "confirmed" })).toBe("Totals leave the payments of Partner card out.");
  expect(effect({ ...link, kind: "transfer", confidence: "confirmed" })).toBe("Totals leave both sides out.");
});

it("puts first what waits", () => {
  const links = [{ confidence: "confirmed" }, { confidence: "auto" }, { confidence: "rejected" }] as const;
  expect(sorted(links).waiting).toEqual([links[1]]);
  expect(sorted(links).decided).toEqual([links[0], links[2]]);
});
