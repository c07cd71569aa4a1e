import type { Period } from "#/api/transactions";
import { cents } from "#/lib/money";
import type { SumIn } from "./added";

/** A month of the list: how many rows it has, where they begin, and its sums by currency. */
export type Month = {
  month: string;
  /** How many months come before it. */
  nth: number;
  rows: number;
  start: number;
  /** The sums of the rows that totals count. If totals count no row of the whole list, the sums of all rows. */
  sums: SumIn[];
  /** The sums of all rows. */
  allSums: SumIn[];
};

/**
 * The whole list as numbered places. Every row has a place before it is loaded; the first place of a month is its
 * heading.
 */
export type Timeline = {
  months: Month[];
  size: number;
  rows: number;
  /** How many rows totals leave out: transfers, duplicates, excluded transactions and those of hidden accounts. */
  uncounted: number;
};

type Totals = Pick<Period["totals"][number], "iso_currency_code" | "money_in" | "money_out">;

const sumsIn = (totals: Totals[]): SumIn[] =>
  totals
    .map((t) => ({ currency: t.iso_currency_code, in: cents(t.money_in), out: cents(t.money_out) }))
    .sort((a, b) => (b.in + b.out > a.in + a.out ? 1 : -1));

export function timeline(periods: Period[]): Timeline {
  let start = 0;
  const totals = periods.flatMap((p) => p.totals);
  const counted = totals.reduce((n, t) => n + t.counted.count, 0);
  const months = periods
    .toSorted((a, b) => (a.period < b.period ? 1 : -1))
    .map((p, nth) => {
      const allSums = sumsIn(p.totals);
      const sums = counted
        ? sumsIn(p.totals.filter((t) => t.counted.count > 0).map((t) => ({ ...t, ...t.counted })))
        : allSums;
      const month = { month: p.period, nth, rows: p.count, start, sums, allSums };
      start += p.count + 1;
      return month;
    });
  const uncounted = totals.reduce((n, t) => n + t.count, 0) - counted;
  return { months, size: start, rows: start - months.length, uncounted };
}

/** The number of the row at a place, counted from the newest row; -1 for a heading. */
export function rowAt(t: Timeline, index: number): number {
  const m = monthAt(t, index);
  return m && index > m.start ? index - 1 - m.nth : -1;
}

/** The month that contains a place. */
export function monthAt(t: Timeline, index: number): Month | undefined {
  let [lo, hi] = [0, t.months.length - 1];
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if ((t.months[mid]?.start ?? 0) <= index) lo = mid;
    else hi = mid - 1;
  }
  return t.months[lo];
}

/** Whether a place is a heading. */
export const isHead = (t: Timeline, index: number) => monthAt(t, index)?.start === index;

/** The next place with a row; at either end of the list, the same place. */
export function step(t: Timeline, from: number, by: 1 | -1): number {
  let i = from + by;
  if (isHead(t, i)) i += by;
  return i < 1 || i >= t.size ? from : i;
}

/** The heights of a heading and a row, in pixels. */
export type Heights = { head: number; row: number };

/** The distance of a place from the list's top, in pixels. */
export function topOf(t: Timeline, index: number, h: Heights): number {
  const m = monthAt(t, index);
  const heads = m ? m.nth + (index > m.start ? 1 : 0) : 0;
  return heads * h.head + (index - heads) * h.row;
}

/** The place at a distance from the list's top. */
export function placeAt(t: Timeline, y: number, h: Heights): number {
  let [lo, hi] = [0, t.months.length - 1];
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (topOf(t, t.months[mid]?.start ?? 0, h) <= y) lo = mid;
    else hi = mid - 1;
  }
  const m = t.months[lo];
  if (!m) return 0;
  const below = y - topOf(t, m.start, h) - h.head;
  return below < 0 ? m.start : Math.min(m.start + 1 + Math.floor(below / h.row), t.size - 1);
}
