import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { FileOptions, FilePreview, Mapping } from "#/api/files";

/** The possible meanings of a column, in the order of the menu. */
const columns: readonly (readonly [string, MessageDescriptor])[] = [
  ["", msg`Ignore`],
  ["date", msg`Date`],
  ["name", msg`Description`],
  ["detail", msg`Memo`],
  ["amount", msg`Amount`],
  ["debit", msg`Money out`],
  ["credit", msg`Money in`],
  ["flag", msg`Debit/credit flag`],
  ["currency", msg`Currency`],
  ["category", msg`Category`],
  ["merchant_name", msg`Merchant`],
  ["account", msg`Account`],
  ["id", msg`Bank ID`],
  ["balance", msg`Balance`],
  ["fee", msg`Fee`],
  ["status", msg`Status`],
  ["other_amount", msg`Other amount`],
];

export const meanings = () => columns.map(([key, name]) => [key, i18n._(name)] as const);

export const mappingOf = (p: Pick<FilePreview, "mapping">): Mapping => (p.mapping ?? {}) as Mapping;

/**
 * Whether the file is a table, so that a person can set the meaning of its columns. Other formats define this
 * themselves.
 */
export const isTable = (p: Pick<FilePreview, "columns">) => p.columns.length > 0;

/** The options with which the preview read a file, so that the import reads it in the same way. */
export const settled = (p: FilePreview | undefined): FileOptions =>
  p && isTable(p)
    ? {
        encoding: p.encoding,
        delimiter: p.delimiter,
        header_row: p.header_row,
        date_format: p.date_format,
        decimal_separator: p.decimal_separator,
        amount_sign: p.amount_sign as FileOptions["amount_sign"],
        mapping: mappingOf(p),
      }
    : {};

/** The meaning of a column; empty if the column is not used. */
export const meaningOf = (m: Mapping, column: number) => columns.find(([key]) => key && m[key] === column)?.[0] ?? "";

/**
 * The mapping after a column got another meaning. Each meaning belongs to one column, and each column has one meaning.
 */
export function mapped(m: Mapping, column: number, meaning: string): Mapping {
  const others = Object.entries(m).filter(([key, at]) => at !== column && key !== meaning);
  return Object.fromEntries(meaning ? [...others, [meaning, column]] : others);
}

/**
 * How the file distinguishes money out from money in. The mapped columns decide if they can. Otherwise the current
 * choice stays, if it fits.
 */
export const signFor = (m: Mapping, now: string): string => {
  if (m.amount === undefined && (m.debit !== undefined || m.credit !== undefined)) return "split";
  if (m.flag !== undefined) return "flag";
  return now === "split" || now === "flag" ? "negative_out" : now;
};

/** The message about a missing column; empty if the mapping is complete. */
export function lacking(m: Mapping): string {
  if (m.date === undefined) return t`Choose the date column.`;
  if (m.amount === undefined && m.debit === undefined && m.credit === undefined) return t`Choose the amount column.`;
  return "";
}

export const encodings = [
  ["utf-8", "UTF-8"],
  ["windows-1252", "Windows-1252"],
  ["windows-1250", "Windows-1250"],
  ["utf-16le", "UTF-16 LE"],
  ["utf-16be", "UTF-16 BE"],
] as const;

export const delimiters = () =>
  [
    [",", t`Comma`],
    [";", t`Semicolon`],
    ["\t", t({ message: "Tab", context: "character" })],
    ["|", t`Pipe`],
  ] as const;

const orders = ["YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "YYYY/MM/DD", "YYYYMMDD"];

/** Date formats with December 31 as an example, because its day and month cannot be confused. */
export const dateOptions = (now: string): (readonly [string, string])[] =>
  [...new Set([now, ...orders])].filter(Boolean).map((f) => [f, exampleOf(f)]);

export const exampleOf = (format: string) =>
  format
    .replace(/Y+/, (y) => (y.length > 2 ? "2025" : "25"))
    .replace(/M+/, "12")
    .replace(/D+/, "31");

export const decimals = [
  [".", "1,234.56"],
  [",", "1.234,56"],
] as const;

export const signs = () =>
  [
    ["negative_out", t`Money out is negative`],
    ["positive_out", t`Money out is positive`],
    ["split", t`Money out in a separate column`],
    ["flag", t`Money out marked by a column`],
  ] as const;

const sure = { high: msg`high confidence`, medium: msg`likely`, low: msg`check this` };
export const sureOf = (level: keyof typeof sure) => i18n._(sure[level]);

/** How many rows an import would add. Rows that are already stored are known only if the account exists. */
export function outcome(p: Pick<FilePreview, "rows_total" | "rows_rejected" | "duplicates">, left = 0) {
  const known = p.duplicates ?? 0;
  return { inserted: Math.max(0, p.rows_total - p.rows_rejected - known - left), known, bad: p.rows_rejected };
}

export const size = (bytes: number) =>
  bytes < 1000
    ? plural(bytes, { one: "# byte", other: "# bytes" })
    : bytes < 1e6
      ? t`${{ size: i18n.number(Math.round(bytes / 1000)) }} kB`
      : t`${{ size: i18n.number(Math.round(bytes / 1e5) / 10) }} MB`;
