import { expect, it } from "vitest";
import { isHead, monthAt, placeAt, rowAt, step, timeline, topOf } from "./timeline";

const total = (iso_currency_code: string, count: number) => ({
  iso_currency_code,
  money_in: 1.1,
  money_out: 2.2,
  net: -1.1,
  count,
  counted: { money_in: 1.1, money_out: 2.2, net: -1.1, count },
});
const t = timeline([
  { period: "2026-10", count: 2, totals: [total("EUR", 2)] },
  { period: "2026-11", count: 4, totals: [total("EUR", 3), total("SEK", 1)] },
]);

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

it("knows which row of the list stands where", () => {
  expect([0, 1, 4, 5, 6, 7].map((i) => rowAt(t, i))).toEqual([-1, 0, 3, -1, 4, 5]);
});

it("steps over headings and stays at the ends", () => {
  expect(step(t, 4, 1)).toBe(6);
  expect(step(t, 6, -1)).toBe(4);
  expect(step(t, 7, 1)).toBe(7);
  expect(step(t, 1, -1)).toBe(1);
});

it("has no month when there is nothing", () => {
  expect(timeline([])).toEqual({ months: [], size: 0, rows: 0, uncounted: 0 });
  expect(monthAt(timeline([]), 0)).toBeUndefined();
});

it("knows how far down a place is, and what stands there", () => {
  const h = { head: 44, row: 40 };
  expect([0, 1, 4, 5, 6, 8].map((i) => topOf(t, i, h))).toEqual([0, 44, 164, 204, 248, 328]);
  for (let i = 0; i < t.size; i++) {
    expect(placeAt(t, topOf(t, i, h), h)).toBe(i);
    expect(placeAt(t, topOf(t, i + 1, h) - 1, h)).toBe(i);
  }
  expect([placeAt(t, -50, h), placeAt(t, 1e9, h), placeAt(timeline([]), 90, h)]).toEqual([0, 7, 0]);
});
