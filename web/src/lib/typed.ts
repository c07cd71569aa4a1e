import { decimalSign, locale } from "./locale";
import { type Cents, cents, text } from "./money";

const minusSign = "[-−–‐‑]";
const currencySign = "(?:[A-Z]{0,3}\\p{Sc}(?: ?[A-Z]{2,3})?|[A-Z]{3}|kr\\.?|zł|Kč|Ft|Fr\\.?)";
const figure = new RegExp(
  `^(${minusSign}?) *${currencySign}? *(${minusSign}?) *([\\d.,'’ ]*\\d) *${currencySign}?$`,
  "u",
);

/** Thousands separators every three digits, or placed as in India: 12,34,567. */
const grouped = /^[1-9]\d{0,2}(?:([.,'’ ])\d{3})(?:\1\d{3})*$|^[1-9]\d?(?:,\d{2})+,\d{3}$/;

/**
 * Reads a number that a person typed, and returns it as a decimal with at most `places` decimals, or null if it is not
 * a number. Both "1,234.5" and "1.234,5" are understood. Only "1,234" and "1.234" are ambiguous: the decimal sign of
 * the reader's locale starts the decimals, and the other sign separates thousands.
 */
export function plain(s: string, places: number, decimal = decimalSign()): `${number}` | null {
  const m = figure.exec(s.normalize("NFKC").trim()); // NFKC makes all kinds of spaces equal
  if (!m || (m[1] && m[2])) return null;
  let [whole, fraction] = [m[3] as string, ""];
  const last = /^(.*)([.,])(\d+)$/.exec(whole);
  if (last) {
    const [, before, sign, after] = last as unknown as [string, string, string, string];
    const again = before.includes(sign);
    const thousands = after.length === 3 && (again || (sign !== decimal && /^[1-9]\d{0,2}$/.test(before)));
    if (!thousands && (again || after.length > places)) return null;
    if (!thousands) [whole, fraction] = [before, after];
  }
  if (/\D/.test(whole) && !grouped.test(whole)) return null;
  const digits = whole.replace(/\D/g, "").replace(/^0+(?=\d)/, "");
  if (digits.length > 13) return null;
  return `${m[1] || m[2] ? "-" : ""}${digits || "0"}${fraction && `.${fraction}`}` as `${number}`;
}

/** Reads an amount that a person typed; null if it is not an amount. */
export function typed(s: string): Cents | null {
  const read = plain(s, 2);
  return read === null ? null : cents(read);
}

/** An amount as text for a field, in the reader's format: "1,234.50". */
export const written = (n: Cents, digits = 2): string =>
  new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: 2 }).format(text(n));

/** The same as `written`, without the decimals of a whole amount: "150". */
export const short = (n: Cents): string => written(n, n % 100n === 0n ? 0 : 2);

/** Reads an amount that a person typed, as a number for the API; null if it is not an amount. */
export function amountOf(s: string): number | null {
  const n = plain(s, 2);
  return n === null ? null : Number(n);
}
