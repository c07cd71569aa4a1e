import type { Row } from "#/api/transactions";
import { abs, type Cents, cents } from "#/lib/money";
import type { Timeline } from "./timeline";

/** The sums of some transactions in one currency. Both are positive. */
export type SumIn = { currency: string; in: Cents; out: Cents };

/** Adds up sums by currency, the largest first. */
export function added(parts: Iterable<SumIn>): SumIn[] {
  const by = new Map<string, SumIn>();
  for (const p of parts) {
    const was = by.get(p.currency);
    by.set(p.currency, { currency: p.currency, in: (was?.in ?? 0n) + p.in, out: (was?.out ?? 0n) + p.out });
  }
  const size = (s: SumIn) => s.in + s.out;
  return [...by.values()].sort((a, b) => (size(b) > size(a) ? 1 : size(b) < size(a) ? -1 : 0));
}

/** The sums of a whole list, added up from its months. */
export const sumsOf = (line: Timeline) => added(line.months.flatMap((m) => m.sums));

/** The sums of all rows of a list, including rows that totals leave out. */
export const allSumsOf = (line: Timeline) => added(line.months.flatMap((m) => m.allSums));

/** The sums of some rows. */
export const sumsOfRows = (rows: Iterable<Pick<Row, "amount" | "iso_currency_code">>) =>
  added(
    [...rows].map((r) => {
      const n = cents(r.amount);
      return { currency: r.iso_currency_code, in: n < 0n ? abs(n) : 0n, out: n > 0n ? n : 0n };
    }),
  );
