import { expect, it } from "vitest";
import { defaultTotalsWord, outWord, pairWord } from "./pairs";

const kept = { linked_transaction_id: "b", excluded: false, transfer: false };

it("calls a transfer only what is one", () => {
  expect([pairWord(kept), defaultTotalsWord(kept)]).toEqual(["", "Counts in totals"]);
  const moved = { ...kept, transfer: true };
  expect([pairWord(moved), defaultTotalsWord(moved)]).toEqual(["transfer", "Not counted: transfer"]);
  const copy = { ...kept, excluded: true };
  expect([pairWord(copy), defaultTotalsWord(copy)]).toEqual(["duplicate", "Not counted: duplicate"]);
});

it("says why totals exclude a transaction", () => {
  const counts = { ...kept, excluded_reason: null };
  expect(outWord(counts)).toBe("");
  expect(outWord({ ...counts, transfer: true })).toBe("transfer");
  expect(outWord({ ...counts, excluded: true })).toBe("duplicate");
  expect(outWord({ ...counts, excluded_reason: "reimbursed" })).toBe("excluded");
});
