import { decimalSign, locale } from "./locale";
import { type Cents, cents, text } from "./money";

const minusSign = "[-−–‐‑]";
const currencySign = "(?:[A-Z]{0,3}\\p{Sc}(?: ?[A-Z]{2,3})?|[A-Z]{3}|kr\\.?|zł|Kč|Ft|Fr\\.?)";
const figure = new RegExp(
  `^(${minusSign}?) *${currencySign}? *(${minusSign}?) *([\\d.,'’ ]*\\d) *${currencySign}?$`,
  "u",
);

/** Thousands apart, as in most of the world, or as in India. */
const grouped = /^[1-9]\d{0,2}(?:([.,'’ ])\d{3})(?:\1\d{3})*$|^[1-9]\d?(?:,\d{2})+,\d{3}$/;

/**
 * A number as people type it, as a plain decimal with at most that many places; null if it is none. Commas and points
 * are understood in both styles. Only "1,234" and "1.234" can be two numbers: there the sign that the reader's own
 * locale writes before hundredths is that, and the other one stands between thousands.
 */
export function plain(s: string, places: number, decimal = decimalSign()): `${number}` | null {
  const m = figure.exec(s.normalize("NFKC").trim()); // all kinds of spaces are one
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

/** An amount as people type it; null if it is none. */
export function typed(s: string): Cents | null {
  const read = plain(s, 2);
  return read === null ? null : cents(read);
}

/** An amount for a field, as the reader would type it: "1,234.50". */
export const written = (n: Cents, digits = 2): string =>
  new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: 2 }).format(text(n));

/** The same of what is whole without its hundredths: "150". */
export const short = (n: Cents): string => written(n, n % 100n === 0n ? 0 : 2);

/** An amount as people type it, as the API takes it; null if it is none. */
export function amountOf(s: string): number | null {
  const n = plain(s, 2);
  return n === null ? null : Number(n);
}
