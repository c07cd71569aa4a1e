import type { UpcomingAccount, UpcomingDay, UpcomingItem } from "#/api/upcoming";
import { dayAt, dayShort, firstDay, lastDay, monthOf, ordinal } from "#/lib/dates";
import { abs, add, type Cents, cents, type Purse } from "#/lib/money";

/** How many months from this one on can be looked at: no more than a year ahead is known. */
export const monthsAhead = 11;

/** How many days it takes from today to the end of a month, today included. */
export const daysUntil = (month: string, today: string) => ordinal(lastDay(month)) - ordinal(today) + 1;

/** The weeks of a month, Monday first; null stands for a day of another month. */
export function weeks(month: string): (string | null)[][] {
  const [from, to] = [ordinal(firstDay(month)), ordinal(lastDay(month))];
  const out: (string | null)[][] = [];
  for (let monday = from - ((from + 3) % 7); monday <= to; monday += 7)
    out.push(Array.from({ length: 7 }, (_, i) => (monday + i < from || monday + i > to ? null : dayAt(monday + i))));
  return out;
}

/** The days of a month on which something is expected. */
export const daysOf = (days: readonly UpcomingDay[], month: string) => days.filter((d) => monthOf(d.date) === month);

/** What goes out and what comes in, by currency, without transfers between own accounts. */
export function sums(days: readonly UpcomingDay[]): { out: Purse; in: Purse } {
  let [out, into]: [Purse, Purse] = [new Map(), new Map()];
  for (const { amount, iso_currency_code: currency, transfer } of days.flatMap((d) => d.items)) {
    if (transfer) continue; // between own accounts
    const n = cents(amount);
    if (n < 0n) into = add(into, currency, abs(n));
    else out = add(out, currency, n);
  }
  return { out, in: into };
}

/** What is not sure of a payment, in words; nothing if all of it is. */
export function doubt(item: UpcomingItem, today: string): string | undefined {
  if (item.due_date) return `should have come on ${dayShort(item.due_date, today)}`;
  return item.certain ? undefined : "about this";
}

/** What there is to say of a payment beside its name and amount. */
export function remark(item: UpcomingItem, today: string): string {
  return [doubt(item, today), item.transfer && "between own accounts"].filter(Boolean).join(" · ");
}

/** How low an account will be, or why nobody can tell. */
export function lowest(a: UpcomingAccount, debt: boolean, today: string, say: (n: Cents) => string): string {
  if (a.balance_today === null) return "Its balance is not known";
  if (!a.lowest) return "Payments do not explain its value";
  const now = cents(a.balance_today);
  const then = cents(a.lowest.balance);
  const when = a.lowest.date === today ? "today" : `on ${dayShort(a.lowest.date, today)}`;
  if (debt) return then > now ? `Owes most ${when}` : "Owes no more than today";
  if (then < 0n) return `Falls below zero ${when}: ${say(then)}`;
  return then < now ? `Lowest ${when}` : "No lower than today";
}
