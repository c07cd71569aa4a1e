import { t } from "@lingui/core/macro";
import type { Target } from "#/api/targets";
import type { Pivot } from "#/api/transactions";
import { monthName } from "#/lib/dates";
import { abs, type Cents, cents, length } from "#/lib/money";

type Measure = Pick<
  Target,
  "amount" | "spent" | "available" | "carried" | "state" | "start_month" | "end_month" | "due" | "expected"
>;

/** The budget of a month: its amount plus what earlier months left over or overspent. */
export const budget = (m: Measure): Cents => cents(m.amount) + cents(m.carried ?? 0);

/** How a budget is going, in words. */
export function standing(m: Measure, say: (c: Cents) => string): { text: string; mood: "" | "warn" } {
  const left = cents(m.available ?? 0);
  const amount = say(abs(left));
  switch (m.state) {
    case "not_started":
      return { text: t`Starts ${{ month: monthName(m.start_month) }}`, mood: "" };
    case "ended":
      return { text: m.end_month ? t`Ended ${{ month: monthName(m.end_month) }}` : t`Ended`, mood: "" };
    case "over":
      return { text: t`${amount} over budget`, mood: "warn" };
    case "ahead":
      return cents(m.due) > left
        ? { text: t`${{ amount: say(left) }} left, ${{ due: say(cents(m.due)) }} still due`, mood: "" }
        : { text: t`${{ amount: say(left) }} left, ahead of pace`, mood: "" };
    default:
      return { text: t`${{ amount: say(left) }} left`, mood: "" };
  }
}

/** The amount of a budget, and what earlier months left over or overspent. */
export function planned(m: Measure, say: (c: Cents) => string): string {
  const amount = say(cents(m.amount));
  const left = cents(m.carried ?? 0);
  const carried = say(abs(left));
  if (left === 0n) return t`of ${amount}`;
  return left > 0n ? t`of ${amount} + ${carried} rolled over` : t`of ${amount} − ${carried} overspent earlier`;
}

/**
 * The parts of the bar, in percent of its length: the amount spent, the end of the budget if more was spent, and the
 * amount expected by now.
 */
export function bar(m: Measure): { value: number; end?: number; tick?: number } {
  const has = budget(m);
  const spent = cents(m.spent);
  if (spent > 0n && spent > has) {
    const end = has <= 0n ? 0 : (100 * length(has)) / length(spent);
    return { value: end, end };
  }
  const part = (n: Cents) => (n <= 0n || has <= 0n ? 0 : Math.min(100, (100 * length(n)) / length(has)));
  return { value: part(spent), tick: part(cents(m.expected ?? 0)) };
}

/** The currency for a new budget: the household's if an account uses it, else the one that most accounts use. */
export function usualCurrency(
  accounts: readonly { iso_currency_code: string; hidden: boolean }[],
  household: string,
): string {
  const count = new Map<string, number>();
  for (const a of accounts) if (!a.hidden) count.set(a.iso_currency_code, (count.get(a.iso_currency_code) ?? 0) + 1);
  if (count.size === 0 || count.has(household)) return household;
  return [...count].sort(([x, n], [y, k]) => k - n || (x < y ? -1 : 1))[0]?.[0] ?? household;
}

/** Whether a category already has a budget in this currency, or in any currency if `currency` is empty. */
export const taken = (
  have: readonly Pick<Target, "category" | "iso_currency_code">[],
  category: string,
  currency: string,
): boolean =>
  have.some((x) => x.category === category && (currency === "" || x.iso_currency_code === currency.toUpperCase()));

/** How many of the fixed payments were made, and how many there are. */
export function paid(fixed: readonly Pick<Target, "payments">[]): { paid: number; all: number } {
  const all = fixed.flatMap((x) => x.payments ?? []);
  return { paid: all.filter((p) => p.paid).length, all: all.length };
}

/** A share in whole percent; 0 if the whole is not positive. */
export const share = (part: Cents, whole: Cents): number =>
  whole <= 0n ? 0 : Math.round((100 * length(part)) / length(whole));

export type Proposal = { category: string; currency: string; amount: Cents };

/** Rounds an average up to a multiple of 5, or of 10 from 100 upward. */
export function rounding(average: Cents): Cents {
  const step = average >= 10_000n ? 1000n : 500n;
  return ((average + step - 1n) / step) * step;
}

/** The categories with the highest average cost that have no budget yet, each with a rounded amount. */
export function proposals(
  pivot: Pivot | undefined,
  kind: (slug: string) => string | undefined,
  have: readonly Pick<Target, "category" | "iso_currency_code">[],
): Proposal[] {
  const taken = new Set(have.map((x) => `${x.category} ${x.iso_currency_code}`));
  return (pivot?.rows ?? [])
    .flatMap((r) => {
      const category = r.keys.primary_category;
      const average = cents(r.average ?? 0);
      if (!category || kind(category) !== "expense" || average <= 0n || taken.has(`${category} ${r.iso_currency_code}`))
        return [];
      return [{ category, currency: r.iso_currency_code, amount: rounding(average) }];
    })
    .slice(0, 8);
}
