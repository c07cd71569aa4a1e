import { expect, test } from "vitest";
import type { Pivot } from "#/api/transactions";
import { describeTable, heat, linesOf, totalOf, warmth } from "./lines";

const row = (key: string | null, total: number, average?: number): Pivot["rows"][number] => ({
  keys: { primary_category: key },
  ids: { primary_category: key && `id of ${key}` },
  iso_currency_code: "EUR",
  values: [total, 0],
  total,
  average,
  count: 1,
});

const sums = (total: number) => ({ iso_currency_code: "EUR", values: [total, 0], total, count: 1 });

const pivot: Pivot = {
  measure: "out",
  columns: [
    { key: "2026-10", complete: true },
    { key: "2026-11", complete: false },
  ],
  rows: [
    row("home", 700, 700),
    row(null, 12.5, 12.5),
    row("gone", -3, -3),
    row("nothing", 0, 0),
    { ...row("food", 3), iso_currency_code: "USD" },
  ],
  other: [],
  totals: [sums(709.5)],
};

test("rows of one currency that came to something, with the search for their transactions", () => {
  const lines = linesOf(pivot, "EUR", "primary_category", (s) => s.toUpperCase());
  expect(lines.map((l) => [l.name, l.total, l.search])).toEqual([
    ["HOME", 70000n, { category: "home" }],
    ["Uncategorized", 1250n, { uncategorized: true }],
    ["GONE", -300n, { category: "gone" }],
  ]);
});

test("the rows and those that have no room are the total", () => {
  const cut = { ...pivot, rows: [row("home", 700)], other: [{ ...sums(9.5), groups: 3 }] };
  const lines = linesOf(cut, "EUR", "primary_category", (s) => s);
  expect(lines.map((l) => [l.name, l.total])).toEqual([
    ["home", 70000n],
    ["3 others", 950n],
  ]);
  expect(lines.reduce((n, l) => n + l.total, 0n)).toBe(totalOf(cut, "EUR")?.total);
  expect(totalOf(cut, "USD")).toBeUndefined();
  expect(linesOf({ ...cut, rows: [] }, "EUR", "payee", (s) => s)).toEqual([]);
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

test("a payee's search finds the transactions of its row alone", () => {
  const paid = (name: string, id: string | null, payee?: string) => ({
    ...row(null, 5),
    keys: { payee: name },
    ids: { payee: id },
    payee,
  });
  const rows = [paid("Edeka", "uuid"), paid("Bakery", null, "k1")];
  expect(linesOf({ ...pivot, rows }, "EUR", "payee", (s) => s).map((l) => l.search)).toEqual([
    { counterparty: "uuid" },
    { payee: "k1", counterparty: "none" },
  ]);
});

test("figures are warm within their row", () => {
  expect(heat([0n, -5n, 100n, 200n, 600n])).toEqual([0, 0, 1, 2, 5]);
  expect(heat([100_000n, 100_100n, 0n])).toEqual([1, 1, 0]);
  expect(heat([0n])).toEqual([0]);
  expect(heat([])).toEqual([]);
  expect([warmth(5), warmth(4), warmth(1)]).toEqual(["among the highest", "high", ""]);
});

test("the table in a sentence", () => {
  const lines = linesOf(pivot, "EUR", "primary_category", (s) => s);
  expect(describeTable(lines, "out", "category", String)).toBe(
    "Top categories per month: home (70000), Uncategorized (1250).",
  );
  expect(describeTable(lines.slice(0, 1), "out", "payee", String)).toBe("Top payees per month: home (70000).");
  expect(describeTable(lines.slice(0, 1), "out", "account", String)).toBe("Top accounts per month: home (70000).");
  expect(describeTable(lines.slice(0, 1), "in", "payee", String)).toBe("Top sources per month: home (70000).");
  expect(describeTable([], "in", "category", String)).toBe("No complete month yet.");
});
