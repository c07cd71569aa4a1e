import { locale, moneyLocale } from "./locale";

/**
 * Amounts are exact. The API sends decimals such as 12.5; the app keeps them as a bigint of hundredths, which adds up
 * without rounding errors. Money out is positive, as everywhere in coffer. Amounts in different currencies are never
 * added; a Purse has one sum for each currency.
 */
export type Cents = bigint;

const decimal = /^(-?)(\d+)(?:\.(\d{1,2})0*)?$/;

/**
 * Reads an amount as the API sends it. JavaScript prints a double as the shortest decimal that identifies it. Up to 15
 * digits, that is the decimal that was sent. So this reads the text; multiplying the double would round.
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

/** Hundredths as a number, only for lengths in charts, because it is not exact. */
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
      // The code is not a currency, for example a bank's bonus points.
      f = new Intl.NumberFormat(locale, { minimumFractionDigits: rounded ? 0 : 2, ...digits });
    }
    formats.set(key, f);
  }
  return f;
}

const minus = (s: string) => s.replace("-", "−");

/** An amount with its sign and currency, as people read it. */
export const money = (n: Cents, currency: string): string => minus(format(currency, false).format(text(n)));

/** The same as `money`, rounded to whole units. */
export const rounded = (n: Cents, currency: string): string => minus(format(currency, true).format(text(n)));

/** The cost of a model, in US dollars. Costs below a cent are shown with two significant digits. */
export const dollars = (n: number): string =>
  n > 0 && n < 0.01
    ? new Intl.NumberFormat(moneyLocale(), { style: "currency", currency: "USD", maximumSignificantDigits: 2 }).format(
        n,
      )
    : format("USD", false).format(n);

/** An exchange rate as a plain decimal. JavaScript's own text of a number below 0.000001 has an exponent. */
export const plainRate = (rate: number): string =>
  new Intl.NumberFormat(locale, { maximumFractionDigits: 9, useGrouping: false }).format(rate);

const shortened = new Map<string, Intl.NumberFormat>();

/** A short amount for the axis of a chart: "€10K". */
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
  const parts = f.formatToParts(text(n));
  // Some languages have no short form for thousands.
  if (abs(n) >= 100_000n && !parts.some((p) => p.type === "compact")) return rounded(n, currency);
  return minus(parts.map((p) => p.value).join(""));
}

/** The whole units and the decimals of an amount as two texts, because screens show the decimals smaller. */
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
