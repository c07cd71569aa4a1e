import type { Group } from "#/api/transactions";
import { daysIn, shift } from "#/lib/dates";
import { type Cents, cents } from "#/lib/money";

/** What one currency did in some time. */
export type Sums = { currency: string; in: Cents; out: Cents; count: number };

/** The currency that a screen shows first: the one with most payments. */
export function mainCurrency(groups: Group[]): string | null {
  const counts = new Map<string, number>();
  for (const g of groups) counts.set(g.iso_currency_code, (counts.get(g.iso_currency_code) ?? 0) + g.count);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

/** A month's sums by currency, the main one first. */
export function sumsOf(months: Group[], month: string, main: string): Sums[] {
  return months
    .filter((g) => g.keys.month === month)
    .map((g) => ({ currency: g.iso_currency_code, in: cents(g.money_in), out: cents(g.money_out), count: g.count }))
    .sort((a, b) => Number(b.currency === main) - Number(a.currency === main));
}

/** The thirteen months that end with this one, also those without a payment. */
export function thirteen(months: Group[], last: string, currency: string) {
  const by = new Map(months.filter((g) => g.iso_currency_code === currency).map((g) => [g.keys.month, g]));
  return Array.from({ length: 13 }, (_, i) => {
    const month = shift(last, i - 12);
    const g = by.get(month);
    return { month, in: g ? cents(g.money_in) : 0n, out: g ? cents(g.money_out) : 0n };
  });
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

/** A category with what went out now and in the month before; refunds are taken off. */
export type Spent = { slug: string; now: Cents; before: Cents };

/** What each top category cost, largest first. Groups are by category; `parent` names the one above. */
export function spent(now: Group[], before: Group[], currency: string, parent: (slug: string) => string): Spent[] {
  const by = new Map<string, Spent>();
  const put = (groups: Group[], field: "now" | "before") => {
    for (const g of groups) {
      if (g.iso_currency_code !== currency) continue;
      const slug = parent(g.keys.category ?? "");
      const s = by.get(slug) ?? { slug, now: 0n, before: 0n };
      s[field] += cents(g.money_out) - cents(g.money_in);
      by.set(slug, s);
    }
  };
  put(now, "now");
  put(before, "before");
  return [...by.values()].sort((a, b) => (b.now > a.now ? 1 : b.now < a.now ? -1 : 0));
}
