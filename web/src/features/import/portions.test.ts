import { expect, it } from "vitest";
import {
  bankCalled,
  choiceOf,
  insertedCount,
  makesBank,
  type Portion,
  portionName,
  usualPart,
  wantingParts,
} from "./portions";

const a = {
  key: "bank 1",
  iso_currency_code: "EUR",
  rows: 10,
  duplicates: 3,
  likely_duplicates: 2,
  skipped: [],
  rejected: [],
  proof: { status: "none" },
  suggestion: { why: "unknown" },
} as unknown as Portion;

it("names an account as the file does", () => {
  expect(portionName({ ...a, name: "Giro" })).toBe("Giro");
  expect(portionName({ ...a, mask: "1234" })).toContain("1234");
  expect(portionName(a)).toBe("bank 1");
});

it("takes the suggestion, else makes an account", () => {
  expect(usualPart({ ...a, suggestion: { why: "number", account_id: "x" } }, null)).toEqual({
    kind: "account",
    id: "x",
  });
  expect(usualPart({ ...a, mask: "1234" }, "Bank")).toEqual({ kind: "new", name: "Bank 1234" });
  expect(usualPart(a, "Bank")).not.toEqual(usualPart({ ...a, key: "bank 2" }, "Bank"));
});

it("calls the bank as the file or a person does, and never after the format", () => {
  const one = { kind: "new", name: "Giro" } as const;
  expect(usualPart({ ...a, mask: "1234" }, null)).toEqual({ kind: "new", name: "Account 1234" });
  expect(makesBank([{ kind: "skip" }, one])).toBe(true);
  expect(makesBank([{ kind: "account", id: "x" }, one])).toBe(false);
  expect(bankCalled(" Nordbank ", [one])).toBe("Nordbank");
  expect(bankCalled("", [{ kind: "skip" }, one])).toBe("Giro");
});

it("counts what is new", () => {
  const there = { kind: "account", id: "x" } as const;
  expect(insertedCount(a, there, false)).toBe(5);
  expect(insertedCount(a, there, true)).toBe(7);
  expect(insertedCount(a, { kind: "new", name: "N" }, false)).toBe(10);
  expect(insertedCount(a, { kind: "skip" }, false)).toBe(0);
  expect(choiceOf(a, there, true)).toEqual({ key: "bank 1", account_id: "x", include_likely_duplicates: true });
});

it("keeps accounts apart", () => {
  const one = { kind: "new", name: "One" } as const;
  const free = () => "";
  expect(wantingParts([a, a], [one, { kind: "skip" }], free)).toBe("");
  expect(wantingParts([a, a], [one, one], free)).not.toBe("");
  expect(wantingParts([a], [{ kind: "skip" }], free)).not.toBe("");
  expect(wantingParts([a], [one], (name) => `${name} is there`)).toBe("One is there");
});
