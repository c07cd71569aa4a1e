import type { Target } from "#/api/targets";
import type { Pivot } from "#/api/transactions";
import { monthName } from "#/lib/dates";
import { abs, type Cents, cents, length } from "#/lib/money";

type Measure = Pick<Target, "amount" | "spent" | "available" | "carried" | "state" | "start_month" | "end_month">;

/** What a month has for a target: its amount, and what earlier months left. */
export const budget = (t: Measure): Cents => cents(t.amount) + cents(t.carried ?? 0);

/** How a target stands, in words. */
export function standing(t: Measure, say: (c: Cents) => string): { text: string; mood: "" | "warn" | "bad" } {
  const left = cents(t.available ?? 0);
  switch (t.state) {
    case "not_started":
      return { text: `Begins in ${monthName(t.start_month)}`, mood: "" };
    case "ended":
      return { text: t.end_month ? `Ended with ${monthName(t.end_month)}` : "Ended", mood: "" };
    case "over":
      return { text: `${say(abs(left))} over`, mood: "bad" };
    case "ahead":
      return { text: `${say(left)} left, spent faster than the month goes`, mood: "warn" };
    default:
      return { text: `${say(left)} left`, mood: "" };
  }
}

/** What earlier months left for this one, or took from it. */
export function earlier(t: Measure, say: (c: Cents) => string): string {
  const carried = cents(t.carried ?? 0);
  if (carried === 0n) return "";
  return carried > 0n ? ` and ${say(carried)} left from before` : `, less ${say(abs(carried))} overspent before`;
}

/** How long the bar is, in percent of what the month has. */
export function filled(t: Measure): number {
  const has = budget(t);
  const spent = cents(t.spent);
  if (spent <= 0n) return 0;
  return has <= 0n || spent > has ? 100 : (100 * length(spent)) / length(has);
}

export type Proposal = { category: string; currency: string; amount: Cents };

/** A round figure above what a category cost on average: to 5, from 100 on to 10. */
export function rounding(average: Cents): Cents {
  const step = average >= 10_000n ? 1000n : 500n;
  return ((average + step - 1n) / step) * step;
}

/** The categories that cost most on average and have no target yet, each with a round figure. */
export function proposals(
  pivot: Pivot | undefined,
  kind: (slug: string) => string | undefined,
  have: readonly Pick<Target, "category" | "iso_currency_code">[],
): Proposal[] {
  const taken = new Set(have.map((t) => `${t.category} ${t.iso_currency_code}`));
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
