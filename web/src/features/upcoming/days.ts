import { t } from "@lingui/core/macro";
import type { Upcoming, UpcomingAccount, UpcomingDay, UpcomingItem } from "#/api/upcoming";
import { dayAt, dayShort, firstDay, lastDay, monthOf, ordinal } from "#/lib/dates";
import { abs, add, type Cents, cents, type Purse } from "#/lib/money";
import { firstWeekday } from "#/lib/week";

/** How many months after this one can be shown. Expected payments are known for at most a year. */
export const monthsAhead = 11;

/** The number of days from today to the end of a month, including today. */
export const daysUntil = (month: string, today: string) => ordinal(lastDay(month)) - ordinal(today) + 1;

/** The weeks of a month, starting on the reader's first day of the week. null is a day of another month. */
export function weeks(month: string, first = firstWeekday): (string | null)[][] {
  const [from, to] = [ordinal(firstDay(month)), ordinal(lastDay(month))];
  const out: (string | null)[][] = [];
  // day 0 of `ordinal`, 1 January 1970, was a Thursday
  for (let start = from - ((from + 11 - first) % 7); start <= to; start += 7)
    out.push(Array.from({ length: 7 }, (_, i) => (start + i < from || start + i > to ? null : dayAt(start + i))));
  return out;
}

/** Whether a week has a day from today on. The calendar shows only expected payments, so past weeks would be empty. */
export const ahead = (week: readonly (string | null)[], today: string) =>
  week.some((day) => day !== null && day >= today);

/** The days of a month with expected payments. */
export const daysOf = (days: readonly UpcomingDay[], month: string) => days.filter((d) => monthOf(d.date) === month);

/** Money out and money in by currency, without transfers. */
export function sums(days: readonly UpcomingDay[]): { out: Purse; in: Purse } {
  let [out, into]: [Purse, Purse] = [new Map(), new Map()];
  for (const { amount, iso_currency_code: currency, transfer } of days.flatMap((d) => d.items)) {
    if (transfer) continue;
    const n = cents(amount);
    if (n < 0n) into = add(into, currency, abs(n));
    else out = add(out, currency, n);
  }
  return { out, in: into };
}

/** The sums in words. A side without payments is left out. */
export const sumWords = (all: ReturnType<typeof sums>, money: (n: bigint, currency: string) => string): string => {
  const text = (purse: Purse) => [...purse].flatMap(([of, n]) => (n === 0n ? [] : [money(n, of)])).join(" + ");
  const [out, into] = [text(all.out), text(all.in)];
  return [out && t`${{ amount: out }} out`, into && t`${{ amount: into }} in`].filter(Boolean).join(" · ");
};

/** Why a payment is uncertain, in words; undefined if it is certain. */
export function doubt(item: UpcomingItem, today: string): string | undefined {
  if (item.due_date) return t`was due ${{ day: dayShort(item.due_date, today) }}`;
  return item.certain ? undefined : t`estimated`;
}

/**
 * The account of a payment, if a payment from another account has the same name. Without it, the two would look the
 * same.
 */
export function accountOf(item: UpcomingItem, all: Pick<Upcoming, "days" | "accounts">): string | undefined {
  const twin = (x: UpcomingItem) =>
    x.name === item.name && x.recurring_id !== item.recurring_id && x.account_id !== item.account_id;
  if (!all.days.some((d) => d.items.some(twin))) return undefined;
  return all.accounts.find((a) => a.account_id === item.account_id)?.name;
}

/** A remark about a payment in addition to its name and amount. */
export function remark(item: UpcomingItem, today: string): string {
  return [doubt(item, today), item.transfer && t`transfer`].filter(Boolean).join(" · ");
}

/** How low the balance of an account will get, or why that is unknown. */
export function lowest(a: UpcomingAccount, debt: boolean, today: string, say: (n: Cents) => string): string {
  if (a.balance_today === null) return t`No balance`;
  if (!a.lowest) return t`Not projected`;
  const now = cents(a.balance_today);
  const then = cents(a.lowest.balance);
  const isToday = a.lowest.date === today;
  const day = dayShort(a.lowest.date, today);
  if (debt && then <= now) return t`Debt won’t rise`;
  if (debt) return isToday ? t`Highest debt today` : t`Highest debt on ${day}`;
  if (then < 0n) {
    const amount = say(then);
    return isToday ? t`Goes below zero today: ${amount}` : t`Goes below zero on ${day}: ${amount}`;
  }
  if (then >= now) return t`Won’t drop below today’s balance`;
  return isToday ? t`Lowest today` : t`Lowest on ${day}`;
}
