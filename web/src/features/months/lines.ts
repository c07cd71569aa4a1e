import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Pivot } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { type Cents, cents, length } from "#/lib/money";

/** A row of the table: its name, its total in each column, and the search for its transactions. */
export type Line = {
  key: string;
  name: string;
  /** The category, to show its picture. */
  category?: string | null;
  values: Cents[];
  total: Cents;
  average?: Cents;
  search?: TransactionsSearch;
};

type Row = Pivot["rows"][number];
export type By = "primary_category" | "payee" | "account";

/** The search that finds the transactions of a row. */
function searchOf(row: Row, by: By): TransactionsSearch {
  const key = row.keys[by] ?? undefined;
  const id = row.ids?.[by] ?? undefined;
  if (by === "primary_category") return key ? { category: key } : { uncategorized: true };
  if (by === "account") return { account: id };
  // Other transactions with this key may have a counterparty. They are in the row of that counterparty.
  return id ? { counterparty: id } : { payee: row.payee ?? undefined, counterparty: "none" };
}

const nameless = { primary_category: msg`Uncategorized`, payee: msg`No payee`, account: msg`No account` };

type Sums = Pick<Row, "values" | "total" | "average">;

const sums = (r: Sums) => ({
  values: r.values.map(cents),
  total: cents(r.total),
  average: r.average === undefined || r.average === null ? undefined : cents(r.average),
});

/**
 * The rows of one currency, the largest first. The last row adds up all rows for which the table has no room, so the
 * rows add up to the total. Rows by another grouping come from an earlier request and are skipped.
 */
export function linesOf(pivot: Pivot, currency: string, by: By, category: (slug: string) => string): Line[] {
  const lines: Line[] = pivot.rows
    .filter((r) => by in r.keys && r.iso_currency_code === currency && r.values.some((v) => v !== 0))
    .map((r) => {
      const key = r.keys[by] ?? null;
      return {
        key: `${by} ${r.ids?.[by] ?? r.payee ?? key ?? ""}`,
        name: key === null ? i18n._(nameless[by]) : by === "primary_category" ? category(key) : key,
        ...(by === "primary_category" && { category: key }),
        ...sums(r),
        search: searchOf(r, by),
      };
    });
  const rest = pivot.other.find((o) => o.iso_currency_code === currency);
  if (lines.length > 0 && rest && rest.values.some((v) => v !== 0))
    lines.push({ key: "other", name: t`${{ count: rest.groups }} others`, ...sums(rest) });
  return lines;
}

/** The total of all rows of one currency, including rows for which the table has no room. */
export function totalOf(pivot: Pivot, currency: string): Omit<Line, "key" | "name"> | undefined {
  const all = pivot.totals?.find((x) => x.iso_currency_code === currency);
  return all && sums(all);
}

const steps = 5;

/**
 * The shade of each figure of a row, from 0 to 5. Shades compare figures only within their row, because large costs
 * such as rent would make all others pale. A row that hardly changes has one shade.
 */
export function heat(values: readonly Cents[]): number[] {
  const positive = values.filter((v) => v > 0n).map(length);
  const [low, high] = [Math.min(...positive), Math.max(...positive)];
  const even = high - low <= high * 0.05;
  return values.map((v) => {
    if (v <= 0n) return 0;
    return even ? 1 : Math.min(steps, 1 + Math.floor((steps * (length(v) - low)) / (high - low)));
  });
}

/** The shade in words, for high figures only. */
export const warmth = (level: number): string =>
  level >= steps ? t`among the highest` : level === steps - 1 ? t`high` : "";

/** Describes the table in a sentence: the largest rows with their monthly averages. */
export function describeTable(
  lines: readonly Line[],
  side: "out" | "in",
  by: "category" | "payee" | "account",
  say: (c: Cents) => string,
): string {
  const usual = lines
    .filter((l) => l.search && l.average !== undefined && l.average > 0n)
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
