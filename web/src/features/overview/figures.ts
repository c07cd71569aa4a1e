import type { Group } from "#/api/transactions";
import { daysIn, monthOf, shift } from "#/lib/dates";
import { type Cents, cents } from "#/lib/money";

/** The currency that a screen shows first: the one with most payments. */
export function mainCurrency(groups: Group[]): string | null {
  const counts = new Map<string, number>();
  for (const g of groups) counts.set(g.iso_currency_code, (counts.get(g.iso_currency_code) ?? 0) + g.count);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

/** The thirteen months that end with this one, also those without a payment; groups are by day. */
export function thirteen(days: Group[], last: string, currency: string) {
  const by = new Map(Array.from({ length: 13 }, (_, i) => [shift(last, i - 12), { in: 0n, out: 0n }]));
  for (const g of days) {
    const m = g.iso_currency_code === currency && by.get(monthOf(g.keys.day ?? ""));
    if (!m) continue;
    m.in += cents(g.money_in);
    m.out += cents(g.money_out);
  }
  return [...by].map(([month, sums]) => ({ month, ...sums }));
}

/** What was spent in a month by the end of each of its days, up to a day. */
export function pace(days: Group[], month: string, currency: string, upTo: number): Cents[] {
  const by = new Map<string, Cents>();
  for (const g of days) if (g.iso_currency_code === currency) by.set(g.keys.day ?? "", cents(g.money_out));
  let sum = 0n;
  return Array.from({ length: Math.min(upTo, daysIn(month)) }, (_, i) => {
    sum += by.get(`${month}-${String(i + 1).padStart(2, "0")}`) ?? 0n;
    return sum;
  });
}
