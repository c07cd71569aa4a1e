import { plural } from "@lingui/core/macro";
import type { Group } from "#/api/transactions";
import { daysIn, monthOf, ordinal, shift } from "#/lib/dates";
import { abs, type Cents, cents } from "#/lib/money";
import { fromFiles } from "#/lib/provider";

/** The currency that a screen shows first: the one with most transactions. */
export function mainCurrency(groups: Group[]): string | null {
  const counts = new Map<string, number>();
  for (const g of groups) counts.set(g.iso_currency_code, (counts.get(g.iso_currency_code) ?? 0) + g.count);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}

/** The sums of the 13 months that end with `last`, including months without transactions. `days` has groups by day. */
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

/** Cumulative spending by the end of each day of a month, for its first `upTo` days. */
export function pace(days: Group[], month: string, currency: string, upTo: number): Cents[] {
  const by = new Map<string, Cents>();
  for (const g of days) if (g.iso_currency_code === currency) by.set(g.keys.day ?? "", cents(g.money_out));
  let sum = 0n;
  return Array.from({ length: Math.min(upTo, daysIn(month)) }, (_, i) => {
    sum += by.get(`${month}-${String(i + 1).padStart(2, "0")}`) ?? 0n;
    return sum;
  });
}

/** Accounts by the size of their balance or debt, so that a short list shows the important ones. */
export const largest = <T extends { balance_today: number | null }>(accounts: readonly T[]): T[] =>
  accounts.toSorted((a, b) => {
    const [x, y] = [abs(cents(a.balance_today ?? 0)), abs(cents(b.balance_today ?? 0))];
    return x < y ? 1 : x > y ? -1 : 0;
  });

/** The month to open first: the current one, or the month of the newest transaction if that is earlier. */
export const openedOn = (today: string, last: string | null | undefined): string =>
  last && monthOf(last) < monthOf(today) ? monthOf(last) : monthOf(today);

/** The age in days at which the newest row of a bank with file imports is out of date. Statements come once a month. */
const statementDays = 40;

/** Whether a bank syncs or, with file imports, its newest row is recent. */
export function upToDate(
  bank: { provider: string; status: string; latest_date: string | null },
  today: string,
): boolean {
  if (bank.status !== "active") return false;
  if (!fromFiles(bank)) return true;
  return bank.latest_date !== null && ordinal(today) - ordinal(bank.latest_date) <= statementDays;
}

/** How many transactions have no category. The server stops counting at ten thousand. */
export const withoutCategory = (n: number) =>
  n < 10_000
    ? plural(n, { one: "# uncategorized transaction", other: "# uncategorized transactions" })
    : plural(n, { one: "# or more uncategorized transactions", other: "# or more uncategorized transactions" });
