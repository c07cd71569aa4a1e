import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Recurring } from "#/api/recurring";
import { dayShort, ordinal } from "#/lib/dates";
import { abs, add, type Cents, cents, type Purse } from "#/lib/money";
import { percent } from "#/lib/words";

const cadence: Record<Recurring["cadence"], MessageDescriptor> = {
  weekly: msg`Weekly`,
  fortnightly: msg`Every 2 weeks`,
  monthly: msg`Monthly`,
  quarterly: msg`Quarterly`,
  half_yearly: msg`Every 6 months`,
  yearly: msg`Yearly`,
};

type Group = Recurring["group"];

const groups: Record<Group, MessageDescriptor> = {
  subscription: msg`Subscriptions`,
  bill: msg`Bills`,
  loan: msg`Loans`,
  income: msg`Income`,
  saving: msg({ message: "Savings", context: "recurring payments" }),
  transfer: msg`Transfers`,
};

export const groupName = (g: Group) => i18n._(groups[g]);

/** The household's name for it, else the payee. */
export const called = (r: Pick<Recurring, "name" | "payee_name">) => r.name ?? r.payee_name;

export const often = (r: Pick<Recurring, "cadence">) => i18n._(cadence[r.cadence]);

/** How often it is due, and when next. */
export function when(r: Recurring, today: string): string {
  const cadence = often(r);
  const day = dayShort(r.next_date ?? r.last_date, today);
  if (!r.next_date) return t`${{ often: cadence }} · ended ${day}`;
  return r.status === "late" ? t`${{ often: cadence }} · due ${day}` : t`${{ often: cadence }} · next ${day}`;
}

const recent = 90; // days in which a price change counts as recent

type Change = Recurring["price_changes"][number];

/** Whether a price change is recent: a rise asks for a look only then. */
export const isRecent = (c: Pick<Change, "date">, today: string) => ordinal(today) - ordinal(c.date) <= recent;

/** A price change: both prices, since when, and whether it is good, wants a look, or is long ago. */
export function change(r: Recurring, c: Change, today: string, say: (n: Cents) => string) {
  const [before, after] = [abs(cents(c.before)), abs(cents(c.after))];
  const day = dayShort(c.date, today);
  const worse = after > before === (r.direction === "out");
  const mood: "warn" | "in" | "plain" = !isRecent(c, today) ? "plain" : worse ? "warn" : "in";
  return {
    prices: `${say(before)} → ${say(after)}`,
    since: c.provisional ? t`Since ${day}, first time` : t`Since ${day}`,
    percent: `${c.percent > 0 ? "+" : "−"}${percent(Math.abs(c.percent))}`,
    by: `${after > before ? "+" : "−"}${say(abs(after - before))}`,
    mood,
  };
}

/** The newest price change, if it is recent. */
export const recentChangeOf = (r: Recurring, today: string): Change | undefined => {
  const c = r.price_changes[0];
  return c && isRecent(c, today) ? c : undefined;
};

const order: readonly Group[] = ["subscription", "bill", "loan", "income", "saving"];

/** The lists of the screen: what goes on by group, transfers, and what ended or was dismissed. */
export function sorted(all: readonly Recurring[]) {
  const lasting = all.filter((r) => r.state !== "dismissed" && r.status !== "ended");
  const costs = (a: Recurring, b: Recurring) => (size(b) > size(a) ? 1 : size(b) < size(a) ? -1 : 0);
  return {
    groups: order
      .map((group) => ({ group, rows: lasting.filter((r) => r.group === group).sort(costs) }))
      .filter((g) => g.rows.length > 0),
    transfers: lasting.filter((r) => r.group === "transfer").sort(costs),
    ended: all.filter((r) => r.state !== "dismissed" && r.status === "ended"),
    dismissed: all.filter((r) => r.state === "dismissed"),
  };
}

const size = (r: Recurring) => abs(cents(r.yearly_amount));

/** The sums of these by currency: for a month, and for a year. */
export const monthly = (rows: readonly Recurring[]): Purse =>
  rows.reduce((p: Purse, r) => add(p, r.iso_currency_code, abs(cents(r.monthly_amount))), new Map());
export const yearly = (rows: readonly Recurring[]): Purse =>
  rows.reduce((p: Purse, r) => add(p, r.iso_currency_code, size(r)), new Map());

/** What the price changes of these add to a year: those that are recent, by their cadence. */
export function priceChanges(rows: readonly Recurring[], today: string): { count: number; by: Cents } {
  const recentChanges = rows.flatMap((r) => {
    const c = recentChangeOf(r, today);
    if (!c || cents(r.amount) === 0n) return [];
    const times = cents(r.yearly_amount) / cents(r.amount);
    return [(abs(cents(c.after)) - abs(cents(c.before))) * times];
  });
  return { count: recentChanges.length, by: recentChanges.reduce((a, b) => a + b, 0n) };
}

/** The price over time, oldest first: from the first payment on, and from each change on. */
export function prices(r: Pick<Recurring, "first_date" | "amount" | "price_changes">): { day: string; value: Cents }[] {
  const changes = r.price_changes.toReversed();
  const first = changes[0] ? changes[0].before : r.amount;
  return [
    { day: r.first_date, value: abs(cents(first)) },
    ...changes.map((c) => ({ day: c.date, value: abs(cents(c.after)) })),
  ];
}
