import type { Period } from "#/api/transactions";
import { type Cents, cents } from "#/lib/money";

/** A month of the list: how many rows it has, where they begin, and its sums by currency. */
export type Month = {
  month: string;
  /** How many months stand before it. */
  nth: number;
  rows: number;
  start: number;
  sums: { currency: string; in: Cents; out: Cents }[];
};

/** The whole list: every row has a place before it is loaded. A month's first place is its heading. */
export type Timeline = { months: Month[]; size: number; rows: number };

export function timeline(periods: Period[]): Timeline {
  let start = 0;
  const months = periods
    .toSorted((a, b) => (a.period < b.period ? 1 : -1))
    .map((p, nth) => {
      const sums = p.totals
        .map((t) => ({ currency: t.iso_currency_code, in: cents(t.money_in), out: cents(t.money_out) }))
        .sort((a, b) => (b.in + b.out > a.in + a.out ? 1 : -1));
      const month = { month: p.period, nth, rows: p.count, start, sums };
      start += p.count + 1;
      return month;
    });
  return { months, size: start, rows: start - months.length };
}

/** Which row of the whole list stands at a place, counted from the newest; -1 for a heading. */
export function rowAt(t: Timeline, index: number): number {
  const m = monthAt(t, index);
  return m && index > m.start ? index - 1 - m.nth : -1;
}

/** The month in which a place is: the last one that begins at or before it. */
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

/** The next place with a row, or the same one at either end. */
export function step(t: Timeline, from: number, by: 1 | -1): number {
  let i = from + by;
  if (isHead(t, i)) i += by;
  return i < 1 || i >= t.size ? from : i;
}

/** How high a heading and a row are, in pixels. */
export type Heights = { head: number; row: number };

/** How far below the list's top a place begins. */
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
