/**
 * Money is exact. The API sends decimals, such as 12.5; here they are whole hundredths in a bigint,
 * which add up without a rounding error. Positive is money out, as everywhere in coffer. Amounts of
 * two currencies never meet: what adds them is a Purse.
 */
export type Cents = bigint;

const decimal = /^(-?)(\d+)(?:\.(\d{1,2})0*)?$/;

/**
 * Reads an amount as the API sends it. A double prints the shortest decimal that stands for it, which
 * for up to 15 digits is the one that was sent; so the text is read, and never multiplied.
 */
export function cents(amount: number | string): Cents {
  const m = decimal.exec(String(amount));
  if (!m) throw new Error(`${amount} is not an amount`);
  const n = BigInt(`${m[2]}${(m[3] ?? "").padEnd(2, "0")}`);
  return m[1] ? -n : n;
}

export const abs = (n: Cents): Cents => (n < 0n ? -n : n);

/** Writes hundredths as a decimal, exactly. */
export function text(n: Cents): `${number}` {
  const digits = abs(n).toString().padStart(3, "0");
  return `${n < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}` as `${number}`;
}

/** An amount as people type it, with or without commas between thousands; null if it is none. */
export function typed(s: string): Cents | null {
  const plain = s.replace(/[\s'’]/g, "").replace("−", "-");
  const whole = /^-?\d{1,3}(,\d{3})+(\.\d{1,2})?$/.test(plain)
    ? plain.replaceAll(",", "")
    : plain.replace(/,(\d{1,2})$/, ".$1");
  return /^-?\d{1,13}(\.\d{1,2})?$/.test(whole) ? cents(whole) : null;
}

/** For the length of a bar and nothing else. */
export const length = (n: Cents): number => Number(n) / 100;

const formats = new Map<string, Intl.NumberFormat>();

function format(currency: string, whole: boolean): Intl.NumberFormat {
  const key = currency + whole;
  let f = formats.get(key);
  if (!f) {
    const digits = whole ? { maximumFractionDigits: 0 } : {};
    try {
      f = new Intl.NumberFormat("en", { style: "currency", currency, ...digits });
    } catch {
      // A code that is no currency, such as a bank's own points.
      f = new Intl.NumberFormat("en", { minimumFractionDigits: whole ? 0 : 2, ...digits });
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

/** What a model cost. One answer may cost less than a cent, which is still said. */
export const dollars = (n: number): string =>
  n > 0 && n < 0.01
    ? new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumSignificantDigits: 2 }).format(n)
    : format("USD", false).format(n);

const short = new Map<string, Intl.NumberFormat>();

/** For the axis of a chart: "€10K". */
export function compact(n: Cents, currency: string): string {
  let f = short.get(currency);
  if (!f) {
    f = new Intl.NumberFormat("en", {
      style: "currency",
      currency,
      notation: "compact",
      maximumFractionDigits: 1,
      minimumFractionDigits: 0,
    });
    short.set(currency, f);
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
