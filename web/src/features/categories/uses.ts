import { t } from "@lingui/core/macro";
import type { Leaf, Node } from "#/api/filing";
import type { Group } from "#/api/transactions";
import { abs, add, type Cents, cents, type Purse } from "#/lib/money";
import { transactions } from "#/lib/words";

/** How many transactions something has in a period, and their totals by currency. Money out is positive. */
export type Use = { count: number; sums: Purse };

export const none: Use = { count: 0, sums: new Map() };

const plus = (a: Use, b: Use): Use => {
  let sums = a.sums;
  for (const [currency, n] of b.sums) sums = add(sums, currency, n);
  return { count: a.count + b.count, sums };
};

/** Adds up groups of transactions by the key that `key` returns for each. */
export function usesBy(groups: readonly Group[], key: (g: Group) => string | null | undefined): Map<string, Use> {
  const out = new Map<string, Use>();
  for (const g of groups) {
    const k = key(g);
    if (!k) continue;
    const spent = cents(g.money_out) - cents(g.money_in);
    out.set(k, plus(out.get(k) ?? none, { count: g.count, sums: new Map([[g.iso_currency_code, spent]]) }));
  }
  return out;
}

/** The uses of a category including its subcategories. */
export const total = (n: Node, uses: ReadonlyMap<string, Use>): Use =>
  [n, ...n.children].reduce((sum, c) => plus(sum, uses.get(c.slug) ?? none), none);

/** The sums of a use by currency, the largest first. */
export const sums = (u: Use): [string, Cents][] => {
  return [...u.sums].sort((a, b) => (abs(b[1]) > abs(a[1]) ? 1 : -1));
};

export const times = (n: number) => (n === 0 ? t`unused` : transactions(n));

/** The parts of the tree that contain a word. A matching category keeps all its subcategories. */
export function find(tree: readonly Node[], typed: string): Node[] {
  const word = typed.trim().toLowerCase();
  if (!word) return [...tree];
  const fits = (c: Leaf) => c.display_name.toLowerCase().includes(word) || c.slug.includes(word);
  return tree.flatMap((n) => {
    if (fits(n)) return [n];
    const children = n.children.filter(fits);
    return children.length ? [{ ...n, children }] : [];
  });
}

const longest = 64;

/**
 * The slug for a name. If the name has no letters or digits, or the slug would be too long, the slug ends in a number
 * that is not taken.
 */
export function slugOf(name: string, parent?: string, taken: ReadonlySet<string> = new Set()): string {
  const own = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  const full = [parent, own].filter(Boolean).join("_");
  if (own && full.length <= longest) return full;
  const room = own ? full : [parent, "category"].filter(Boolean).join("_");
  const stem = room.slice(0, longest - 5).replace(/[-_]+$/, "");
  for (let n = 1; ; n++) if (!taken.has(`${stem}-${n}`)) return `${stem}-${n}`;
}
