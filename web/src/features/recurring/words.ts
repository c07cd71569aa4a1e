import type { Recurring } from "#/api/recurring";
import { dayShort } from "#/lib/dates";
import { abs, add, type Cents, cents, type Purse } from "#/lib/money";

const cadence: Record<Recurring["cadence"], string> = {
  weekly: "every week",
  fortnightly: "every two weeks",
  monthly: "every month",
  quarterly: "every three months",
  half_yearly: "every six months",
  yearly: "every year",
};

/** What the household calls it, else the payee. */
export const called = (r: Recurring) => r.name ?? r.payee_name;

/** How often it comes, and when next. */
export function when(r: Recurring, today: string): string {
  const often = `${r.amount_type === "variable" ? "about this, " : ""}${cadence[r.cadence]}`;
  if (!r.next_date) return `${often} until ${dayShort(r.last_date, today)}`;
  if (r.status === "late") return `${often} · expected ${dayShort(r.next_date, today)}`;
  return `${often} · next ${dayShort(r.next_date, today)}`;
}

/** What became of its price last: from when, before and after, and whether it went up. */
export function change(r: Recurring, today: string, say: (n: Cents) => string) {
  const c = r.price_changes[0];
  if (!c) return undefined;
  const [before, after] = [abs(cents(c.before)), abs(cents(c.after))];
  const sign = c.percent > 0 ? "+" : "−";
  return {
    text: `${say(before)} → ${say(after)} since ${dayShort(c.date, today)} (${sign}${Math.abs(c.percent)} %${c.provisional ? ", once so far" : ""})`,
    up: after > before,
  };
}

/** The lists of the screen: what waits for a word, what goes on, and what is over or dismissed. */
export function sorted(all: readonly Recurring[]) {
  const live = all.filter((r) => r.state !== "dismissed" && r.status !== "ended");
  const next = (a: Recurring, b: Recurring) => ((a.next_date ?? "") < (b.next_date ?? "") ? -1 : 1);
  return {
    out: live.filter((r) => r.direction === "out").sort(next),
    in: live.filter((r) => r.direction === "in").sort(next),
    ended: all.filter((r) => r.state !== "dismissed" && r.status === "ended"),
    dismissed: all.filter((r) => r.state === "dismissed"),
  };
}

/** What a year of these comes to, by currency. */
export const yearly = (rows: readonly Recurring[]): Purse =>
  rows.reduce((p: Purse, r) => add(p, r.iso_currency_code, abs(cents(r.yearly_amount))), new Map());
