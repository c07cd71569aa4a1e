import { expect, it } from "vitest";
import { isHead, monthAt, step, timeline } from "./timeline";

const group = (month: string, count: number, currency = "EUR") => ({
  keys: { month },
  iso_currency_code: currency,
  money_in: 1.1,
  money_out: 2.2,
  net: 1.1,
  count,
});
const t = timeline([group("2026-10", 2), group("2026-11", 3), group("2026-11", 1, "SEK")]);

it("puts the newest month first and counts all its currencies", () => {
  expect(t.months.map((m) => [m.month, m.rows, m.start])).toEqual([
    ["2026-11", 4, 0],
    ["2026-10", 2, 5],
  ]);
  expect([t.size, t.rows]).toEqual([8, 6]);
  expect(t.months[0]?.sums).toHaveLength(2);
});

it("finds the month of every place", () => {
  expect([0, 4, 5, 7].map((i) => monthAt(t, i)?.month)).toEqual(["2026-11", "2026-11", "2026-10", "2026-10"]);
  expect([0, 1, 5].map((i) => isHead(t, i))).toEqual([true, false, true]);
});

it("steps over headings and stays at the ends", () => {
  expect(step(t, 4, 1)).toBe(6);
  expect(step(t, 6, -1)).toBe(4);
  expect(step(t, 7, 1)).toBe(7);
  expect(step(t, 1, -1)).toBe(1);
});

it("has no month when there is nothing", () => {
  expect(timeline([])).toEqual({ months: [], size: 0, rows: 0 });
  expect(monthAt(timeline([]), 0)).toBeUndefined();
});
