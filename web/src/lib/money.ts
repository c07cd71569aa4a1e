import { locale, moneyLocale } from "./locale";

/**
 * Money is exact. The API sends decimals, such as 12.5; here they are whole hundredths in a bigint, which add up
 * without a rounding error. Positive is money out, as everywhere in coffer. Amounts of two currencies are never added
 * directly; a Purse adds them by currency.
 */
export type Cents = bigint;

const decimal = /^(-?)(\d+)(?:\.(\d{1,2})0*)?$/;

/**
 * Reads an amount as the API sends it. A double prints the shortest decimal that stands for it, which
 * for up to 15 digits is the one that was sent; so the text is read, and never multiplied.
 */
export function cents(amount: number | string): Cents {
  const m = decimal.exec(String(amount));
  if (!m) throw new RangeError(`${amount} is not an amount`);
  const n = BigInt(`${m[2]}${(m[3] ?? "").padEnd(2, "0")}`);
  return m[1] ? -n : n;
}

export const abs = (n: Cents): Cents => (n < 0n ? -n : n);

/** Writes hundredths as a decimal, exactly. */
export function text(n: Cents): `${number}` {
  const digits = abs(n).toString().padStart(3, "0");
  return `${n < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}` as `${number}`;
}

/** For the length of a bar and nothing else. */
export const length = (n: Cents): number => Number(n) / 100;

const formats = new Map<string, Intl.NumberFormat>();

function format(currency: string, rounded: boolean): Intl.NumberFormat {
  const key = currency + rounded;
  let f = formats.get(key);
  if (!f) {
    const digits = rounded ? { maximumFractionDigits: 0 } : {};
    try {
      f = new Intl.NumberFormat(moneyLocale(), { style: "currency", currency, ...digits });
    } catch {
      // The code is not a currency, such as a bank's own points.
      f = new Intl.NumberFormat(locale, { minimumFractionDigits: rounded ? 0 : 2, ...digits });
    }
    formats.set(key, f);
  }
  return f;
}

const minus = (s: string) => s.replace("-", "−");

/** As people read it, with its sign. */
export const money = (n: Cents, currency: string): string => minus(format(currency, false).format(text(n)));

/** Without the small change, where the figure beside it says it all. */
export const rounded = (n: Cents, currency: string): string => minus(format(currency, true).format(text(n)));

/** The cost of a model. One answer may cost less than a cent, which is still shown. */
export const dollars = (n: number): string =>
  n > 0 && n < 0.01
    ? new Intl.NumberFormat(moneyLocale(), { style: "currency", currency: "USD", maximumSignificantDigits: 2 }).format(
        n,
      )
    : format("USD", false).format(n);

/** An exchange rate without an exponent, which JavaScript writes from seven decimals on. */
export const plainRate = (rate: number): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 9, useGrouping: false }).format(rate);

const shortened = new Map<string, Intl.NumberFormat>();

/** For the axis of a chart: "€10K". */
export function compact(n: Cents, currency: string): string {
  let f = shortened.get(currency);
  if (!f) {
    const compactOptions = { notation: "compact", maximumFractionDigits: 1, minimumFractionDigits: 0 } as const;
    try {
      f = new Intl.NumberFormat(moneyLocale(), { style: "currency", currency, ...compactOptions });
    } catch {
      f = new Intl.NumberFormat(locale, compactOptions);
    }
    shortened.set(currency, f);
  }
  return minus(f.format(text(n)));
}

/** The figure and its small change apart, because the latter is set smaller. */
export function parts(n: Cents, currency: string): [string, string] {
  const all = format(currency, false).formatToParts(text(n));
  const at = all.findIndex((p) => p.type === "decimal");
  const join = (p: Intl.NumberFormatPart[]) => minus(p.map((x) => x.value).join(""));
  return at < 0 ? [join(all), ""] : [join(all.slice(0, at)), join(all.slice(at))];
}

/** Sums by currency. */
export type Purse = ReadonlyMap<string, Cents>;

export function add(purse: Purse, currency: string, n: Cents): Purse {
  return new Map(purse).set(currency, (purse.get(currency) ?? 0n) + n);
}

export function sum(rows: { amount: number; iso_currency_code: string }[]): Purse {
  const out = new Map<string, Cents>();
  for (const r of rows) out.set(r.iso_currency_code, (out.get(r.iso_currency_code) ?? 0n) + cents(r.amount));
  return out;
}
