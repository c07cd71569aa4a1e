import type { Group } from "#/api/transactions";
import { type Cents, cents } from "#/lib/money";

/** A month of the list: how many rows it has, where they begin, and its sums by currency. */
export type Month = {
  month: string;
  rows: number;
  start: number;
  sums: { currency: string; in: Cents; out: Cents }[];
};

/** The whole list: every row has a place before it is loaded. A month's first place is its heading. */
export type Timeline = { months: Month[]; size: number; rows: number };

export function timeline(groups: Group[]): Timeline {
  const by = new Map<string, Omit<Month, "start">>();
  for (const g of groups) {
    const month = g.keys.month ?? "";
    const m = by.get(month) ?? { month, rows: 0, sums: [] };
    m.rows += g.count;
    m.sums.push({ currency: g.iso_currency_code, in: cents(g.money_in), out: cents(g.money_out) });
    by.set(month, m);
  }
  let start = 0;
  const months = [...by.values()]
    .sort((a, b) => (a.month < b.month ? 1 : -1))
    .map((m) => {
      const at = { ...m, start, sums: m.sums.sort((a, b) => (b.in + b.out > a.in + a.out ? 1 : -1)) };
      start += m.rows + 1;
      return at;
    });
  return { months, size: start, rows: start - months.length };
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
