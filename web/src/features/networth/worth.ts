import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { NetWorth } from "#/api/networth";
import type { Known } from "#/charts/spans";
import { abs, type Cents, cents } from "#/lib/money";
import type { Tone } from "#/lib/tones";

/** The net worth of one currency by day. Days without a known balance are left out. */
export const lineOf = (n: NetWorth, currency: string): Known[] =>
  n.points.flatMap((p) => {
    const of = p.totals.find((x) => x.iso_currency_code === currency);
    if (!of || of.net === null) return [];
    return [{ day: p.date, value: cents(of.net), derived: 2 * of.derived > of.known, off: of.gap > 0 }];
  });

type Group = { key: string; name: string; value: Cents | null; before: Cents | null; tone: Tone };

const types: Record<string, MessageDescriptor> = {
  depository: msg`Cash and bank accounts`,
  credit: msg`Credit cards`,
  loan: msg`Loans`,
  investment: msg`Investments`,
  other: msg`Property and other`,
};

// One color for each type, the same in the chart and in the list below it.
const tones: Record<string, Tone> = { depository: 1, investment: 10, other: 7, credit: 0, loan: 11 };

const typeName = (type: string) => {
  const named = types[type];
  return named ? i18n._(named) : type;
};

/** The amount of each group on the last day, and on the first day with a known balance. */
export function groupsOf(n: NetWorth, currency: string, by: "type" | "account" | "user"): Group[] {
  const of = (p: NetWorth["points"][number] | undefined) =>
    (p?.groups ?? []).filter((g) => g.iso_currency_code === currency);
  const first = of(n.points.find((p) => p.totals.some((x) => x.iso_currency_code === currency && x.net !== null)));
  return of(n.points.at(-1)).map((g) => {
    const same = first.find((f) => (g.id ? f.id === g.id : f.name === g.name));
    const name = by === "type" ? typeName(g.name) : g.name || t`No owner`;
    const known = (v: number | null | undefined) => (v === null || v === undefined ? null : cents(v));
    return { key: g.id ?? g.name, name, value: known(g.net), before: known(same?.net), tone: tones[g.name] ?? 0 };
  });
}

export type Layer = { key: string; name: string; tone: Tone; values: Cents[] };

/** The value of each type of account on each day. A missing value counts as 0. */
export function layersOf(n: NetWorth, currency: string): { days: string[]; net: Cents[]; layers: Layer[] } {
  const points = n.points.filter((p) => p.totals.some((x) => x.iso_currency_code === currency && x.net !== null));
  const of = (p: NetWorth["points"][number], name: string) =>
    cents(p.groups?.find((g) => g.name === name && g.iso_currency_code === currency)?.net ?? 0);
  const names = [...new Set(points.flatMap((p) => p.groups?.map((g) => g.name) ?? []))];
  return {
    days: points.map((p) => p.date),
    net: points.map((p) => cents(p.totals.find((x) => x.iso_currency_code === currency)?.net ?? 0)),
    layers: Object.keys(types)
      .filter((name) => names.includes(name))
      .map((name) => ({
        key: name,
        name: typeName(name),
        tone: tones[name] ?? 0,
        values: points.map((p) => of(p, name)),
      }))
      .filter((l) => l.values.some((v) => v !== 0n)),
  };
}

/** The accounts that were added in the period. Accounts added on the same day share a mark. */
export function marksOf(c: NetWorth["changes"][number] | undefined): { day: string; names: string[] }[] {
  const by = new Map<string, string[]>();
  for (const a of c?.new_accounts ?? []) by.set(a.date, [...(by.get(a.date) ?? []), a.name]);
  return [...by].map(([day, names]) => ({ day, names }));
}

/** How a part of the net worth changed. If the part is a debt, the text says "less debt" or "more debt". */
export function partMoved(value: Cents, before: Cents, say: (c: Cents) => string): string {
  const by = value - before;
  if (by === 0n || value > 0n || before > 0n) return t`${{ change: moved(by, say) }} in the period`;
  const amount = say(abs(by));
  return by > 0n ? t`${amount} less debt` : t`${amount} more debt`;
}

/** A change in words: "up €5.00", "down €5.00", "no change". */
export function moved(by: Cents, say: (c: Cents) => string): string {
  if (by === 0n) return t`no change`;
  const amount = say(abs(by));
  return by < 0n ? t`down ${amount}` : t`up ${amount}`;
}
