import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Pivot } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { type Cents, cents } from "#/lib/money";

/** A row of the table: its name, what it came to in each column, and how to find its transactions. */
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

/** The search that finds the transactions of a row. */
function searchOf(row: Row, by: By): TransactionsSearch {
  const key = row.keys[by] ?? undefined;
  const id = row.ids?.[by] ?? undefined;
  if (by === "primary_category") return key ? { category: key } : { uncategorized: true };
  if (by === "account") return { account: id };
  return id ? { counterparty: id } : { payee: row.payee ?? undefined };
}

const nameless = { primary_category: msg`Uncategorized`, payee: msg`No payee`, account: msg`No account` };

/**
 * The rows of one currency with money in that direction, largest first. A row that came to nothing, or went the other
 * way, is on the other side. A row with another grouping belongs to an earlier question.
 */
export function linesOf(pivot: Pivot, currency: string, by: By, category: (slug: string) => string): Line[] {
  return pivot.rows
    .filter((r) => by in r.keys && r.iso_currency_code === currency && cents(r.total) > 0n)
    .map((r) => {
      const key = r.keys[by] ?? null;
      return {
        key: `${by} ${r.ids?.[by] ?? r.payee ?? key ?? ""}`,
        name: key === null ? i18n._(nameless[by]) : by === "primary_category" ? category(key) : key,
        values: r.values.map(cents),
        total: cents(r.total),
        average: r.average === undefined || r.average === null ? undefined : cents(r.average),
        search: searchOf(r, by),
      };
    });
}

/** Whether uncategorized transactions add up to money in, so that their spending is in no row. */
export const hides = (pivot: Pivot, currency: string): boolean =>
  pivot.rows.some(
    (r) => r.iso_currency_code === currency && (r.keys.primary_category ?? null) === null && cents(r.total) < 0n,
  );

/** The table in a sentence: the largest rows with their monthly averages. */
export function said(
  lines: readonly Line[],
  side: "out" | "in",
  by: "category" | "payee" | "account",
  say: (c: Cents) => string,
): string {
  const usual = lines
    .filter((l) => l.average !== undefined && l.average > 0n)
    .toSorted((a, b) => (a.average === b.average ? 0 : (a.average ?? 0n) < (b.average ?? 0n) ? 1 : -1))
    .slice(0, 3)
    .map((l) => `${l.name} (${say(l.average ?? 0n)})`);
  if (usual.length === 0) return t`No complete month yet.`;
  const list = usual.join(", ");
  if (side === "in") return t`Top sources per month: ${list}.`;
  if (by === "payee") return t`Top payees per month: ${list}.`;
  if (by === "account") return t`Top accounts per month: ${list}.`;
  return t`Top categories per month: ${list}.`;
}
