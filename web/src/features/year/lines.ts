import type { Year, YearCategory } from "#/api/years";
import { shift } from "#/lib/days";
import { type Cents, cents, text } from "#/lib/money";
import { percent } from "#/lib/words";

/** A category with its subcategories, in one currency. */
export type Line = {
  /** Null for uncategorized transactions. */
  slug: string | null;
  now: Cents;
  before: Cents;
  count: number;
  parts: { slug: string; now: Cents; before: Cents; count: number }[];
};

const larger = (a: { now: Cents; before: Cents }, b: { now: Cents; before: Cents }) =>
  b.now === a.now ? Number(b.before - a.before) : b.now > a.now ? 1 : -1;

/** Subcategories under their categories, both with the largest first. */
export function linesOf(all: readonly YearCategory[], currency: string): Line[] {
  const lines = new Map<string | null, Line>();
  for (const c of all) {
    if (c.iso_currency_code !== currency) continue;
    const slug = c.primary_category;
    const line = lines.get(slug) ?? { slug, now: 0n, before: 0n, count: 0, parts: [] };
    lines.set(slug, line);
    const part = { now: cents(c.total), before: cents(c.previous), count: c.count };
    line.now += part.now;
    line.before += part.before;
    line.count += part.count;
    if (c.category) line.parts.push({ slug: c.category, ...part });
  }
  for (const l of lines.values()) {
    // A single subcategory with the slug of its category would only repeat it.
    if (l.parts.length === 1 && l.parts[0]?.slug === l.slug) l.parts = [];
    l.parts.sort(larger);
  }
  return [...lines.values()].sort(larger);
}

/** The increase in percent; undefined if there is nothing to compare with. */
export const growth = (now: Cents, before: Cents): number | undefined =>
  before > 0n && now >= 0n ? Number(((now - before) * 1000n) / before) / 10 : undefined;

/** A change in percent with its sign: "+4%", "−2%". The minus is the same as in amounts. */
export const difference = (n: number) => `${n > 0 ? "+" : n < 0 ? "−" : ""}${percent(Math.abs(n))}`;

// Puts an apostrophe before a text that a spreadsheet would run as a formula.
const cell = (v: string) => {
  const safe = /^[=+\-@\t\r]/.test(v) && !/^-?\d+(\.\d+)?$/.test(v) ? `'${v}` : v;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const decimal = (n: number) => text(cents(n));

/** The year as a CSV table for spreadsheets, in all currencies. The columns have the names of the API's fields. */
export function csvOf(y: Year): string {
  const months = Array.from({ length: 12 }, (_, i) => shift(`${y.year}-01`, i));
  const rows = [["kind", "name", "primary_category", "iso_currency_code", ...months, "total", "previous", "count"]];
  const add = (
    kind: string,
    name: string | null,
    primary: string | null,
    l: { iso_currency_code: string; months?: number[]; total: number; previous: number; count: number },
  ) =>
    rows.push([
      kind,
      name ?? "",
      primary ?? "",
      l.iso_currency_code,
      ...months.map((_, i) => decimal(l.months?.[i] ?? 0)),
      decimal(l.total),
      decimal(l.previous),
      String(l.count),
    ]);
  for (const c of y.categories) add("spending", c.category, c.primary_category, c);
  for (const c of y.income) add("income", c.category, c.primary_category, c);
  for (const g of y.tags) add("tag", g.tag, null, g);
  return `${rows.map((r) => r.map(cell).join(",")).join("\n")}\n`;
}
