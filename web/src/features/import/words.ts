import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { ApiError } from "#/api/client";
import type { FilePreview } from "#/api/files";
import { dayShort, localDay } from "#/lib/dates";
import { abs, cents, money } from "#/lib/money";
import { changeSummary, type Summarized } from "#/parts/changeSummary";
import { refusal, sentence } from "#/parts/refusals";
import { exampleOf, sureOf } from "./columns";

type Read = Pick<FilePreview, "amount_sign" | "date_format" | "decimal_separator">;
type Words = (p: Read) => string;

/** Adds to a warning what to do about it. */
const check = (text: string) => `${text} ${t`Check the preview and change the file format if it’s wrong.`}`;
const swap = (text: string) => `${text} ${t`Check the preview and swap “Money out” and “Money in” if needed.`}`;

const signWords: Words = (p) => {
  if (p.amount_sign === "split") return swap(t`The file doesn’t say which amount column is money out.`);
  return check(
    p.amount_sign === "positive_out"
      ? t`coffer couldn’t tell which amounts are money out, so it treated positive amounts as money out.`
      : t`coffer couldn’t tell which amounts are money out, so it treated negative amounts as money out.`,
  );
};

/** Warnings about guesses, with the place on this screen to correct each. */
const unproven: Record<string, Words> = {
  sign_inferred: signWords,
  sign_ambiguous: signWords,
  sign_contradicts_balance: (p) =>
    (p.amount_sign === "split" ? swap : check)(t`The balances in the file don’t match these amounts.`),
  decimal_ambiguous: (p) =>
    check(
      t`coffer couldn’t tell the decimal separator, so it read amounts as ${{ example: p.decimal_separator === "," ? "1.234,56" : "1,234.56" }}.`,
    ),
  date_order_ambiguous: (p) =>
    check(t`coffer couldn’t tell day from month, so it read dates as ${{ example: exampleOf(p.date_format) }}.`),
};

/** Describes an import with its file and account, if they are known. The account is left out if the change names it. */
export const importSummary = (c: Summarized, file: string | null | undefined, account: string | undefined): string =>
  [changeSummary(c), file, !c.with.account?.name && account].filter(Boolean).join(" · ");

export const warningOf = (w: { code: string; message: string }, p: Read): string =>
  unproven[w.code]?.(p) ?? sentence(w.message);

/** A warning that another account already has rows of the file, which would count twice. */
export const elsewhereWord = (p: Pick<FilePreview, "elsewhere" | "rows_total" | "rows_rejected">, account: string) => {
  const all = p.rows_total - p.rows_rejected;
  return t`${{ known: i18n.number(p.elsewhere?.rows ?? 0) }} of ${{ all: i18n.number(all) }} transactions are already in ${account}. If you import them here too, they count twice.`;
};

/** How sure coffer is that it reads the file correctly. A file with a warning about a guess gets the lowest level. */
export function sureness(p: Pick<FilePreview, "confidence" | "format_name" | "warnings">) {
  const level = p.warnings.some((w) => w.code in unproven) ? "low" : p.confidence;
  const words = level === "high" && p.format_name ? p.format_name : sureOf(level);
  return { level, words: level !== "high" && p.format_name ? `${p.format_name}, ${words}` : words };
}

/** The sentence before the reason why a file can't be read. */
export const unreadable = (changed: boolean) =>
  changed ? t`coffer can’t read this file with these settings.` : t`coffer can’t read this file.`;

export const rowOf = (row: number, reason: string) => t`Row ${{ row: i18n.number(row) }}: ${reason}`;

const refusals: Record<string, MessageDescriptor> = {
  csv: msg`This file is empty.`,
  "mapping.date": msg`This file has no date column. Choose one that lists transactions with dates and amounts.`,
  "mapping.amount": msg`This file has no amount column. Choose one that lists transactions with dates and amounts.`,
  amount_sign: msg`These columns don’t distinguish money in from money out.`,
  header_row: msg`The file has fewer rows than that.`,
};

/** The reason why a file can't be read, in words for this screen. */
export function refusalOf(e: Error): string {
  if (!(e instanceof ApiError)) return t`Can’t reach the server. Nothing was saved.`;
  const known = e.details.map((d) => d.field && refusals[d.field]).find(Boolean);
  return known ? i18n._(known) : refusal(e);
}

type Proof = FilePreview["accounts"][number]["proof"];

/** Whether the bank's own balances confirm that no transaction is missing; empty if the file states no balances. */
export function proofWord(p: Proof, currency: string): string {
  const today = localDay(new Date());
  const days = { from: dayShort(p.from ?? today, today), to: dayShort(p.to ?? today, today) };
  const missing = (off: number) => money(abs(cents(off)), currency);
  if (p.status === "off" && p.off_by != null)
    return t`Off by ${{ amount: missing(p.off_by) }} between ${{ from: days.from }} and ${{ to: days.to }}: a transaction is missing, or there is one too many.`;
  if (p.status === "open" && p.off_by != null)
    return t`${{ amount: missing(p.off_by) }} moved between ${{ from: days.from }} and ${{ to: days.to }}, but no imported file covers all these days.`;
  if (p.status === "open") return t`There’s no earlier balance yet to check this file against.`;
  if (p.status !== "verified") return "";
  const sure = t`Verified: the bank’s balances from ${{ from: days.from }} to ${{ to: days.to }} add up.`;
  const u = p.uncovered;
  if (!u) return sure;
  return `${sure} ${t`No imported file covers all days between ${{ from: dayShort(u.from, today) }} and ${{ to: dayShort(u.to, today) }}.`}`;
}
