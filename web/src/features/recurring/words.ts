import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Recurring } from "#/api/recurring";
import { dayShort } from "#/lib/dates";
import { abs, add, type Cents, cents, type Purse } from "#/lib/money";

const cadence: Record<Recurring["cadence"], MessageDescriptor> = {
  weekly: msg`Weekly`,
  fortnightly: msg`Every 2 weeks`,
  monthly: msg`Monthly`,
  quarterly: msg`Quarterly`,
  half_yearly: msg`Every 6 months`,
  yearly: msg`Yearly`,
};

/** The household's name for it, else the payee. */
export const called = (r: Recurring) => r.name ?? r.payee_name;

/** How often it is due, and when next. */
export function when(r: Recurring, today: string): string {
  const often = i18n._(cadence[r.cadence]);
  const day = dayShort(r.next_date ?? r.last_date, today);
  if (!r.next_date) return t`${often} · ended ${day}`;
  return r.status === "late" ? t`${often} · due ${day}` : t`${often} · next ${day}`;
}

/** Its last price change: since when, before and after, and whether it went up. */
export function change(r: Recurring, today: string, say: (n: Cents) => string) {
  const c = r.price_changes[0];
  if (!c) return undefined;
  const [before, after] = [abs(cents(c.before)), abs(cents(c.after))];
  const change = `${say(before)} → ${say(after)}`;
  const percent = `${c.percent > 0 ? "+" : "−"}${Math.abs(c.percent)}%`;
  const day = dayShort(c.date, today);
  return {
    text: c.provisional ? t`${change} since ${day} (${percent}, first time)` : t`${change} since ${day} (${percent})`,
    up: after > before,
  };
}

/** The lists of the screen: bills, income, transfers, and what ended or was dismissed. */
export function sorted(all: readonly Recurring[]) {
  const lasting = all.filter((r) => r.state !== "dismissed" && r.status !== "ended");
  const live = lasting.filter((r) => !r.transfer);
  const next = (a: Recurring, b: Recurring) => ((a.next_date ?? "") < (b.next_date ?? "") ? -1 : 1);
  return {
    out: live.filter((r) => r.direction === "out").sort(next),
    in: live.filter((r) => r.direction === "in").sort(next),
    own: lasting.filter((r) => r.transfer).sort(next),
    ended: all.filter((r) => r.state !== "dismissed" && r.status === "ended"),
    dismissed: all.filter((r) => r.state === "dismissed"),
  };
}

/** The sum of these per year, by currency. */
export const yearly = (rows: readonly Recurring[]): Purse =>
  rows.reduce((p: Purse, r) => add(p, r.iso_currency_code, abs(cents(r.yearly_amount))), new Map());
