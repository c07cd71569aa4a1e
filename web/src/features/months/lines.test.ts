import { expect, test } from "vitest";
import type { Pivot } from "#/api/transactions";
import { hides, linesOf, said } from "./lines";

const row = (key: string | null, total: number, average?: number): Pivot["rows"][number] => ({
  keys: { primary_category: key },
  ids: { primary_category: key && `id of ${key}` },
  iso_currency_code: "EUR",
  values: [total, 0],
  total,
  average,
  count: 1,
});

const pivot: Pivot = {
  measure: "out",
  columns: [
    { key: "2026-10", complete: true },
    { key: "2026-11", complete: false },
  ],
  rows: [
    row("income", -900, -900),
    row("home", 700, 700),
    row(null, 12.5, 12.5),
    { ...row("food", 3), iso_currency_code: "USD" },
  ],
  other: [],
};

test("rows of one currency that went that way, with the way to their payments", () => {
  const lines = linesOf(pivot, "EUR", "primary_category", (s) => s.toUpperCase());
  expect(lines.map((l) => [l.name, l.total, l.search])).toEqual([
    ["HOME", 70000n, { category: "home" }],
    ["No category", 1250n, { uncategorized: true }],
  ]);
});

test("what was spent without a category is told if it is in no row", () => {
  expect(hides(pivot, "EUR")).toBe(false);
  expect(hides({ ...pivot, rows: [row("income", -900), row(null, -12.5)] }, "EUR")).toBe(true);
  expect(hides({ ...pivot, rows: [row(null, -12.5)] }, "USD")).toBe(false);
});

test("the table in a sentence", () => {
  const lines = linesOf(pivot, "EUR", "primary_category", (s) => s);
  expect(said(lines, "out", String)).toBe("Most goes to home (70000) and No category (1250) a month.");
  expect(said([], "in", String)).toBe("No month is over yet.");
});
