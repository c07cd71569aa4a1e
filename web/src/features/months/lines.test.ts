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

test("rows of one currency that went that way, with the search for their transactions", () => {
  const lines = linesOf(pivot, "EUR", "primary_category", (s) => s.toUpperCase());
  expect(lines.map((l) => [l.name, l.total, l.search])).toEqual([
    ["HOME", 70000n, { category: "home" }],
    ["Uncategorized", 1250n, { uncategorized: true }],
  ]);
});

test("rows of another question are no rows of this one, and every row has a key of its own", () => {
  expect(linesOf(pivot, "EUR", "payee", (s) => s)).toEqual([]);
  const paid = (payee: string | undefined, name: string | null): Pivot["rows"][number] => ({
    ...row(null, 5),
    keys: { payee: name },
    ids: { payee: null },
    payee,
  });
  const keys = linesOf(
    { ...pivot, rows: [paid("a", "Edeka"), paid("b", "Edeka"), paid(undefined, null)] },
    "EUR",
    "payee",
    (s) => s,
  ).map((l) => l.key);
  expect(new Set(keys).size).toBe(3);
});

test("uncategorized spending that is in no row is mentioned", () => {
  expect(hides(pivot, "EUR")).toBe(false);
  expect(hides({ ...pivot, rows: [row("income", -900), row(null, -12.5)] }, "EUR")).toBe(true);
  expect(hides({ ...pivot, rows: [row(null, -12.5)] }, "USD")).toBe(false);
});

test("the table in a sentence", () => {
  const lines = linesOf(pivot, "EUR", "primary_category", (s) => s);
  expect(said(lines, "out", "category", String)).toBe("Top categories per month: home (70000), Uncategorized (1250).");
  expect(said(lines.slice(0, 1), "out", "payee", String)).toBe("Top payees per month: home (70000).");
  expect(said(lines.slice(0, 1), "out", "account", String)).toBe("Top accounts per month: home (70000).");
  expect(said(lines.slice(0, 1), "in", "payee", String)).toBe("Top sources per month: home (70000).");
  expect(said([], "in", "category", String)).toBe("No complete month yet.");
});
