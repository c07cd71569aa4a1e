import { msg } from "@lingui/core/macro";
import type { TransactionsSearch } from "#/lib/address";
import { dayAt, firstDay, lastDay, monthOf, ordinal, shift } from "#/lib/days";
import { abs, type Cents, cents, text } from "#/lib/money";
import { short, typed } from "#/lib/typed";

type Days = Pick<TransactionsSearch, "from" | "to">;

const month = (m: string): Days => ({ from: firstDay(m), to: lastDay(m) });
const year = (y: string): Days => ({ from: `${y}-01-01`, to: `${y}-12-31` });
const last = (days: number, today: string): Days => ({ from: dayAt(ordinal(today) - days + 1), to: today });

/** The most common ranges of days, relative to today. */
export const presets = (today: string) => [
  { name: msg`This month`, days: month(monthOf(today)) },
  { name: msg`Last month`, days: month(shift(monthOf(today), -1)) },
  { name: msg`Last 30 days`, days: last(30, today) },
  { name: msg`Last 90 days`, days: last(90, today) },
  { name: msg`This year`, days: year(today.slice(0, 4)) },
  { name: msg`Last year`, days: year(String(Number(today.slice(0, 4)) - 1)) },
  { name: msg`All time`, days: { from: undefined, to: undefined } },
];

/** Both ends of an amount filter. They are equal if the filter is for one amount. */
export type Range = { from: Cents | null; to: Cents | null };

const plain = /^\d+(\.\d{1,2})?$/;

/** The ends of the amount filter in an address; null if the fields cannot show them. */
export function rangeOf(amount: string | undefined): Range | null {
  if (!amount) return { from: null, to: null };
  const [a = "", b] = amount.split("..");
  const read = (s: string) => (s === "" ? null : cents(s));
  if ([a, b ?? ""].some((s) => s !== "" && !plain.test(s))) return null;
  return b === undefined ? { from: read(a), to: read(a) } : { from: read(a), to: read(b) };
}

const brief = (n: Cents) => text(n).replace(/\.00$/, "");

/** The amount filter for the typed fields; undefined if all are empty. */
export function amountFrom(fields: { from: string; to: string; exact: string }): string | undefined {
  const [from, to, exact] = [fields.from, fields.to, fields.exact].map((s) => {
    const n = typed(s);
    return n === null ? null : abs(n);
  }) as [Cents | null, Cents | null, Cents | null];
  if (exact !== null) return brief(exact);
  if (from === null && to === null) return undefined;
  if (from !== null && to !== null && from === to) return brief(from);
  const [low, high] = from !== null && to !== null && from > to ? [to, from] : [from, to];
  return `${low === null ? "" : brief(low)}..${high === null ? "" : brief(high)}`;
}

/** An amount filter as people read it: "50 – 100" or "≥ 50". */
export function amountName(amount: string): string {
  const r = rangeOf(amount);
  if (!r || (r.from === null && r.to === null)) return amount;
  if (r.from === null) return `≤ ${short(r.to as Cents)}`;
  if (r.to === null) return `≥ ${short(r.from)}`;
  return r.from === r.to ? short(r.from) : `${short(r.from)} – ${short(r.to)}`;
}
