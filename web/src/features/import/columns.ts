import type { FileOptions, FilePreview, Mapping } from "#/api/files";

/** What a column can mean, in the order in which it is offered. */
export const meanings: readonly (readonly [string, string])[] = [
  ["", "Leave out"],
  ["date", "Day"],
  ["name", "Payee"],
  ["detail", "Purpose"],
  ["amount", "Amount"],
  ["debit", "Money out"],
  ["credit", "Money in"],
  ["flag", "In or out"],
  ["currency", "Currency"],
  ["category", "Category"],
  ["merchant_name", "Shop"],
  ["account", "Account"],
  ["id", "Bank’s number"],
  ["balance", "Balance"],
  ["fee", "Fee"],
  ["status", "Pending or not"],
  ["other_amount", "Other amount"],
];

export const mappingOf = (p: Pick<FilePreview, "mapping">): Mapping => (p.mapping ?? {}) as Mapping;

/** How a file was read, so that the import reads it so too. */
export const settled = (p: FilePreview | undefined): FileOptions =>
  p
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

/** What a column is read as; empty if it is left out. */
export const meaningOf = (m: Mapping, column: number) => meanings.find(([key]) => key && m[key] === column)?.[0] ?? "";

/** The mapping after a column got another meaning: each meaning has one column, and each column one meaning. */
export function mapped(m: Mapping, column: number, meaning: string): Mapping {
  const kept = Object.entries(m).filter(([key, at]) => at !== column && key !== meaning);
  return Object.fromEntries(meaning ? [...kept, [meaning, column]] : kept);
}

/** How money out is told from money in, if the columns leave no choice. */
export const signFor = (m: Mapping, now: string): string => {
  if (m.amount === undefined && (m.debit !== undefined || m.credit !== undefined)) return "split";
  if (m.flag !== undefined) return "flag";
  return now === "split" || now === "flag" ? "negative_out" : now;
};

/** What the mapping lacks, in words; empty if the file can be read. */
export function lacking(m: Mapping): string {
  if (m.date === undefined) return "Choose the column that holds the day.";
  if (m.amount === undefined && m.debit === undefined && m.credit === undefined)
    return "Choose the column that holds the amount.";
  return "";
}

export const encodings = [
  ["utf-8", "UTF-8"],
  ["windows-1252", "Windows-1252"],
  ["windows-1250", "Windows-1250"],
  ["utf-16le", "UTF-16 LE"],
  ["utf-16be", "UTF-16 BE"],
] as const;

export const delimiters = [
  [",", "Comma"],
  [";", "Semicolon"],
  ["\t", "Tab"],
  ["|", "Pipe"],
] as const;

const orders = ["YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "YYYY/MM/DD", "YYYYMMDD"];

/** The last day of the year as each format writes it, because its parts cannot be mistaken. */
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

export const signs = [
  ["negative_out", "Minus is money out"],
  ["positive_out", "Plus is money out"],
  ["split", "Two columns"],
  ["flag", "A column says it"],
] as const;

export const sure = { high: "sure", medium: "fairly sure", low: "please check" } as const;

/** What would become of the rows. Those that are there already are known only for an account that exists. */
export function outcome(p: Pick<FilePreview, "rows_total" | "rows_rejected" | "duplicates">) {
  const known = p.duplicates ?? 0;
  return { fresh: Math.max(0, p.rows_total - p.rows_rejected - known), known, bad: p.rows_rejected };
}

export const size = (bytes: number) =>
  bytes < 1000
    ? `${bytes} bytes`
    : bytes < 1e6
      ? `${Math.round(bytes / 1000)} kB`
      : `${Math.round(bytes / 1e5) / 10} MB`;
