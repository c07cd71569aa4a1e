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

/** The name that the household gave a recurring payment, else its payee. */
export const called = (r: Pick<Recurring, "name" | "payee_name">) => r.name ?? r.payee_name;

/** The properties that distinguish a contract from others with the same name. */
export function marksOf(r: Recurring, all: readonly Recurring[]) {
  const twins = all.filter((x) => x.id !== r.id && called(x) === called(r));
  const here = twins.filter((x) => x.account_id === r.account_id);
  return {
    account: here.length < twins.length,
    category: here.some((x) => x.category !== r.category),
    /** The bank's text. For example, electricity and gas from one supplier have the same account and category. */
    text: here.some((x) => x.category === r.category),
  };
}

export const often = (r: Pick<Recurring, "cadence">) => i18n._(cadence[r.cadence]);

/** How often a payment is due, and its next date. */
export function when(r: Recurring, today: string): string {
  const cadence = often(r);
  const day = dayShort(r.next_date ?? r.last_date, today);
  if (!r.next_date) return t`${{ often: cadence }} · ended ${day}`;
  return r.status === "late" ? t`${{ often: cadence }} · due ${day}` : t`${{ often: cadence }} · next ${day}`;
}

const recent = 90; // days for which a price change counts as recent

type Change = Recurring["price_changes"][number];

/** Whether a price change is recent. Only a recent rise is highlighted. */
export const isRecent = (c: Pick<Change, "date">, today: string) => ordinal(today) - ordinal(c.date) <= recent;

/**
 * A price change in words: both prices, the date, and a mood. The mood is "in" for a recent change for the better,
 * "warn" for a recent change for the worse, else "plain".
 */
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

/** The lists of the screen: active payments by group, transfers, ended payments, and dismissed ones. */
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

/** The sum of recurring payments by currency, per month. `yearly` is the same per year. */
export const monthly = (rows: readonly Recurring[]): Purse =>
  rows.reduce((p: Purse, r) => add(p, r.iso_currency_code, abs(cents(r.monthly_amount))), new Map());
export const yearly = (rows: readonly Recurring[]): Purse =>
  rows.reduce((p: Purse, r) => add(p, r.iso_currency_code, size(r)), new Map());

/** How many of these payments had a recent price change, and how much the changes add up to per year. */
export function priceChanges(rows: readonly Recurring[], today: string): { count: number; by: Cents } {
  const recentChanges = rows.flatMap((r) => {
    const c = recentChangeOf(r, today);
    if (!c || cents(r.amount) === 0n) return [];
    const times = cents(r.yearly_amount) / cents(r.amount);
    return [(abs(cents(c.after)) - abs(cents(c.before))) * times];
  });
  return { count: recentChanges.length, by: recentChanges.reduce((a, b) => a + b, 0n) };
}

/** The price over time, oldest first: from the first payment, and from each price change. */
export function prices(r: Pick<Recurring, "first_date" | "amount" | "price_changes">): { day: string; value: Cents }[] {
  const changes = r.price_changes.toReversed();
  const first = changes[0] ? changes[0].before : r.amount;
  return [
    { day: r.first_date, value: abs(cents(first)) },
    ...changes.map((c) => ({ day: c.date, value: abs(cents(c.after)) })),
  ];
}
