import { ApiError } from "#/api/client";
import type { FilePreview } from "#/api/files";
import { sentence } from "#/parts/edit";
import { exampleOf, sure } from "./columns";

type Read = Pick<FilePreview, "amount_sign" | "date_format" | "decimal_separator">;
type Words = (p: Read) => string;

const otherwise = "Look at the first rows, and choose otherwise under “Read as” if that is wrong.";

const swap = "Look at the first rows, and swap “Money out” and “Money in” if they are the wrong way round.";

const signWords: Words = (p) =>
  p.amount_sign === "split"
    ? `Nothing in the file says which of the two amount columns is money out. ${swap}`
    : `Nothing in the file proves which amounts are money out. ${
        p.amount_sign === "positive_out" ? "Those with a plus" : "Those with a minus"
      } are read so. ${otherwise}`;

/** What could not be proven, and where on this screen it is said otherwise. */
const unproven: Record<string, Words> = {
  sign_inferred: signWords,
  sign_ambiguous: signWords,
  sign_contradicts_balance: (p) =>
    `The balances in the file do not agree with what is read as money out. ${
      p.amount_sign === "split" ? swap : otherwise
    }`,
  decimal_ambiguous: (p) =>
    `No amount shows whether a point or a comma comes before the cents. Amounts are read as ${
      p.decimal_separator === "," ? "1.234,56" : "1,234.56"
    }. ${otherwise}`,
  date_order_ambiguous: (p) =>
    `Nothing in the file tells day and month apart. Days are read as in ${exampleOf(p.date_format)}. ${otherwise}`,
};

/** What an import did, with its file and account as far as they are known. Lists of syncs are kept for a while only. */
export const importedAs = (summary: string, file: string | null | undefined, account: string | undefined): string => {
  const [what = "", ...rest] = summary.split(", ");
  const named = [what, file && `from ${file}`, account && `into ${account}`].filter(Boolean).join(" ");
  return [named, ...rest].join(", ");
};

export const warningOf = (w: { code: string; message: string }, p: Read): string =>
  unproven[w.code]?.(p) ?? sentence(w.message);

/** How sure it is that the file is read rightly. What a warning asks to look at is never called sure. */
export function sureness(p: Pick<FilePreview, "confidence" | "known_format" | "warnings">) {
  const level = p.warnings.some((w) => w.code in unproven) ? "low" : p.confidence;
  const words = level === "high" && p.known_format ? p.known_format : sure[level];
  return { level, words: level !== "high" && p.known_format ? `${p.known_format}, ${words}` : words };
}

const refusals: Record<string, string> = {
  csv: "There is no text in this file.",
  "mapping.date": "No column with days was found. Choose a file that lists payments, each with its day and amount.",
  "mapping.amount":
    "No column with amounts was found. Choose a file that lists payments, each with its day and amount.",
  amount_sign: "These columns do not tell money out from money in this way.",
  header_row: "The file is shorter than that.",
};

/** Why the file cannot be read, in words of the screen. */
export function refusalOf(e: Error): string {
  if (!(e instanceof ApiError)) return "The server did not answer. Nothing was stored.";
  const field = e.details.find((d) => d.field && d.field in refusals)?.field;
  return field ? (refusals[field] as string) : sentence(e.message);
}
