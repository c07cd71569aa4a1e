import type { Pivot } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { type Cents, cents } from "#/lib/money";

/** A row of the table: its name, what it came to in each column, and how to find its payments. */
export type Line = {
  key: string;
  name: string;
  values: Cents[];
  total: Cents;
  average?: Cents;
  search?: TransactionsSearch;
};

type Row = Pivot["rows"][number];
type By = "primary_category" | "payee" | "account";

/** What finds the payments of a row. */
function searchOf(row: Row, by: By): TransactionsSearch {
  const key = row.keys[by] ?? undefined;
  const id = row.ids?.[by] ?? undefined;
  if (by === "primary_category") return key ? { category: key } : { uncategorized: true };
  if (by === "account") return { account: id };
  return id ? { counterparty: id } : { payee: row.payee ?? undefined };
}

const nameless = { primary_category: "No category", payee: "Nobody named", account: "No account" };

/**
 * The rows of one currency in which money went that way, largest first. A row that came to nothing, or
 * went the other way, is on the other side.
 */
export function linesOf(pivot: Pivot, currency: string, by: By, category: (slug: string) => string): Line[] {
  return pivot.rows
    .filter((r) => r.iso_currency_code === currency && cents(r.total) > 0n)
    .map((r) => {
      const key = r.keys[by] ?? null;
      return {
        key: r.ids?.[by] ?? r.payee?.toString() ?? key ?? "",
        name: key === null ? nameless[by] : by === "primary_category" ? category(key) : key,
        values: r.values.map(cents),
        total: cents(r.total),
        average: r.average === undefined || r.average === null ? undefined : cents(r.average),
        search: searchOf(r, by),
      };
    });
}

/** Whether payments without a category brought in more than they cost, so that what they cost is in no row. */
export const hides = (pivot: Pivot, currency: string): boolean =>
  pivot.rows.some(
    (r) => r.iso_currency_code === currency && (r.keys.primary_category ?? null) === null && cents(r.total) < 0n,
  );

/** The table in a sentence: what is largest, and what it usually comes to. */
export function said(lines: readonly Line[], side: "out" | "in", say: (c: Cents) => string): string {
  const usual = lines
    .filter((l) => l.average !== undefined && l.average > 0n)
    .toSorted((a, b) => (a.average === b.average ? 0 : (a.average ?? 0n) < (b.average ?? 0n) ? 1 : -1))
    .slice(0, 3)
    .map((l) => `${l.name} (${say(l.average ?? 0n)})`);
  if (usual.length === 0) return "No month is over yet.";
  const list = usual.length > 1 ? `${usual.slice(0, -1).join(", ")} and ${usual.at(-1)}` : usual[0];
  return side === "out" ? `Most goes to ${list} a month.` : `Most comes from ${list} a month.`;
}
