import { expect, test } from "vitest";
import type { Year } from "#/api/years";
import { csvOf, difference, growth, linesOf } from "./lines";

const line = (category: string | null, primary_category: string | null, total: number, previous = 0) => ({
  category,
  category_display_name: category,
  primary_category,
  iso_currency_code: "EUR",
  months: [total, ...Array(11).fill(0)],
  total,
  previous,
  count: 1,
});

test("categories stand under their primaries, the largest first, in one currency", () => {
  const all = [
    line("food_groceries", "food", 10.1, 20),
    line("food_bars", "food", 30.2),
    line("home", "home", 40),
    line(null, null, 1),
    { ...line("home", "home", 99), iso_currency_code: "USD" },
  ];
  const lines = linesOf(all, "EUR");
  expect(lines.map((l) => [l.slug, l.now, l.before, l.count])).toEqual([
    ["food", 4030n, 2000n, 2],
    ["home", 4000n, 0n, 1],
    [null, 100n, 0n, 1],
  ]);
  expect(lines[0]?.parts.map((p) => p.slug)).toEqual(["food_bars", "food_groceries"]);
  expect(lines[1]?.parts).toEqual([]);
  expect(linesOf([], "EUR")).toEqual([]);
});

test("growth is in percent of before", () => {
  expect(growth(110n, 100n)).toBe(10);
  expect(growth(90n, 100n)).toBe(-10);
  expect(growth(10n, 0n)).toBeUndefined();
  expect(growth(-10n, 100n)).toBeUndefined();
});

test("a difference in percent has the minus of amounts", () => {
  expect([4, 0, -2].map(difference)).toEqual(["+4%", "0%", "−2%"]);
});

test("a table has a row for each line, and no formula", () => {
  const year = {
    year: 2024,
    categories: [line("food", "food", 10.5, 3)],
    income: [line(null, null, 7)],
    tags: [{ tag: "=cmd", iso_currency_code: "EUR", months: [], total: -2.5, previous: 0, count: 2 }],
  } as unknown as Year;
  const rows = csvOf(year).trimEnd().split("\n");
  expect(rows).toHaveLength(4);
  expect(rows[0]).toMatch(/^kind,name,primary_category,iso_currency_code,2024-01,.*2024-12,total,previous,count$/);
  expect(rows[1]).toBe(`spending,food,food,EUR,10.50,${"0.00,".repeat(11)}10.50,3.00,1`);
  expect(rows[2]?.startsWith("income,,,EUR,7.00")).toBe(true);
  expect(rows[3]).toBe(`tag,'=cmd,,EUR,${"0.00,".repeat(12)}-2.50,0.00,2`);
});
