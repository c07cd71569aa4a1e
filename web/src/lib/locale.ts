import { language } from "./language";

/**
 * How the app writes numbers, dates and weeks for the reader. The language is that of the texts. The region is the one
 * that the member chose, else that of the browser's first language. Together they are the locale for all formatting.
 */

/** The region to format for: the one chosen in this browser, else that of the browser's first language. */
export function regionOf(chosen: string | null, browser: readonly string[]): string {
  if (chosen && /^[A-Z]{2}$/.test(chosen)) return chosen;
  const all = browser.flatMap((tag) => {
    try {
      return [new Intl.Locale(tag)];
    } catch {
      return []; // not a language, such as "*"
    }
  });
  const first = all[0];
  // "de, de-AT" means Austria. "de, en-US" means Germany: the region of another language says nothing about the place.
  const same = all.find((l) => l.language === first?.language && l.region);
  return same?.region ?? first?.maximize().region ?? "GB";
}

/** The locale for a language in a region. */
export function localeOf(language: string, region: string): string {
  const tag = `${language}-${region}`;
  // A browser that does not know English of a region formats as in the US. World English (en-001) puts the day first.
  const known = new Intl.NumberFormat(tag).resolvedOptions().locale !== "en";
  return language !== "en" || known ? tag : "en-001";
}

/**
 * The locale for amounts of money. In most European regions, English uses the region's signs for numbers but British
 * signs for euros, so "1.234,5" would appear beside "€1,234.50". In these regions, amounts use the region's own
 * language.
 */
export function moneyLocaleOf(locale: string, region: string): string {
  const signs = (o: Intl.NumberFormatOptions) =>
    new Intl.NumberFormat(locale, o)
      .formatToParts(12345.5)
      .flatMap((p) => (p.type === "group" || p.type === "decimal" ? [p.value] : []))
      .join("");
  if (!locale.startsWith("en-") || signs({}) === signs({ style: "currency", currency: "EUR" })) return locale;
  return `${new Intl.Locale(`und-${region}`).maximize().language}-${region}-u-nu-latn`;
}

/** Whether this runs in a browser: unit tests and the build have no local storage. */
const browsed = typeof localStorage !== "undefined";

export const region = browsed ? regionOf(localStorage.getItem("region"), navigator.languages) : "GB";
export const locale = localeOf(language, region);

let ofMoney: string | undefined;
/** The locale for amounts of money. */
export function moneyLocale(): string {
  ofMoney ??= moneyLocaleOf(locale, region);
  return ofMoney;
}

let sign: string | undefined;
/** The decimal sign of the reader's locale: "." or ",". */
export function decimalSign(): string {
  sign ??= new Intl.NumberFormat(locale).formatToParts(1.5).find((p) => p.type === "decimal")?.value ?? ".";
  return sign;
}
