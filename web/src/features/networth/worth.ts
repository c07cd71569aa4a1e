import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { NetWorth } from "#/api/networth";
import type { Known } from "#/charts/spans";
import { type Cents, cents } from "#/lib/money";

/** The line of one currency: days on which nothing is known are left out. */
export const lineOf = (n: NetWorth, currency: string): Known[] =>
  n.points.flatMap((p) => {
    const of = p.totals.find((x) => x.iso_currency_code === currency);
    if (!of || of.net === null) return [];
    return [{ day: p.date, value: cents(of.net), derived: 2 * of.derived > of.known, off: of.gap > 0 }];
  });

type Group = { key: string; name: string; value: Cents | null; before: Cents | null };

const types: Record<string, MessageDescriptor> = {
  depository: msg`Cash and bank accounts`,
  credit: msg`Credit cards`,
  loan: msg`Loans`,
  investment: msg`Investments`,
  other: msg`Other`,
};

const typeName = (type: string) => {
  const named = types[type];
  return named ? i18n._(named) : type;
};

/** The amount of each group on the last day and on the first. */
export function groupsOf(n: NetWorth, currency: string, by: "type" | "account" | "user"): Group[] {
  const at = (i: number) => (n.points.at(i)?.groups ?? []).filter((g) => g.iso_currency_code === currency);
  const first = at(0);
  return at(-1).map((g) => {
    const same = first.find((f) => (g.id ? f.id === g.id : f.name === g.name));
    const name = by === "type" ? typeName(g.name) : g.name || t`No owner`;
    const of = (v: number | null | undefined) => (v === null || v === undefined ? null : cents(v));
    return { key: g.id ?? g.name, name, value: of(g.net), before: of(same?.net) };
  });
}

/** How the net worth changed since the first known day. With another number of accounts, a difference means nothing. */
export function since(n: NetWorth, currency: string, money: (c: Cents) => string, day: (d: string) => string): string {
  const known = n.points.flatMap((p) =>
    p.totals.flatMap((x) =>
      x.iso_currency_code === currency && x.net !== null ? [{ day: p.date, value: cents(x.net), known: x.known }] : [],
    ),
  );
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last) return "";
  const start = day(first.day);
  const [before, now] = [first.known, last.known];
  if (before < now)
    return t`Accounts with a balance grew from ${before} on ${start} to ${now}, so the line jumps when an account is added.`;
  if (before > now)
    return t`Accounts with a balance fell from ${before} on ${start} to ${now}, so the line jumps when an account ends.`;
  const by = last.value - first.value;
  if (by === 0n) return t`No change since ${start}.`;
  const amount = money(by < 0n ? -by : by);
  return by < 0n ? t`Down ${amount} since ${start}.` : t`Up ${amount} since ${start}.`;
}
