import type { NetWorth } from "#/api/networth";
import type { Known } from "#/charts/spans";
import { type Cents, cents } from "#/lib/money";

/** The line of one currency: days on which nothing is known are left out. */
export const lineOf = (n: NetWorth, currency: string): Known[] =>
  n.points.flatMap((p) => {
    const t = p.totals.find((x) => x.iso_currency_code === currency);
    if (!t || t.net === null) return [];
    return [{ day: p.date, value: cents(t.net), derived: 2 * t.derived > t.known, off: t.gap > 0 }];
  });

type Group = { key: string; name: string; value: Cents | null; before: Cents | null };

const types: Record<string, string> = {
  depository: "Bank accounts and cash",
  credit: "Cards",
  loan: "Loans",
  investment: "Investments",
  other: "Other things",
};

/** What each group came to on the last day and on the first. */
export function groupsOf(n: NetWorth, currency: string, by: "type" | "account" | "user"): Group[] {
  const at = (i: number) => (n.points.at(i)?.groups ?? []).filter((g) => g.iso_currency_code === currency);
  const first = at(0);
  return at(-1).map((g) => {
    const same = first.find((f) => (g.id ? f.id === g.id : f.name === g.name));
    const name = by === "type" ? (types[g.name] ?? g.name) : g.name || "Nobody in particular";
    const of = (v: number | null | undefined) => (v === null || v === undefined ? null : cents(v));
    return { key: g.id ?? g.name, name, value: of(g.net), before: of(same?.net) };
  });
}

/** How it moved since the first known day. If other accounts were known then, that is no difference to speak of. */
export function since(n: NetWorth, currency: string, money: (c: Cents) => string, day: (d: string) => string): string {
  const known = n.points.flatMap((p) =>
    p.totals.flatMap((t) =>
      t.iso_currency_code === currency && t.net !== null ? [{ day: p.date, value: cents(t.net), known: t.known }] : [],
    ),
  );
  const [first, last] = [known[0], known.at(-1)];
  if (!first || !last) return "";
  if (first.known !== last.known)
    return `On ${day(first.day)} ${first.known === 1 ? "the balance of 1 account was" : `the balances of ${first.known} accounts were`} known, at last of ${last.known}: the line jumps where one becomes known.`;
  const by = last.value - first.value;
  if (by === 0n) return `As much as on ${day(first.day)}.`;
  return `${money(by < 0n ? -by : by)} ${by < 0n ? "less" : "more"} than on ${day(first.day)}.`;
}
