import { language } from "./language";

/**
 * How the reader's numbers, dates and weeks look. The language is that of the texts; the region is the one that was
 * chosen, else that of the browser's first language. Both together are the locale that everything is formatted with.
 */

/** The region to format for: the one that was chosen here, else that of the browser's first language. */
export function regionOf(chosen: string | null, browser: readonly string[]): string {
  if (chosen && /^[A-Z]{2}$/.test(chosen)) return chosen;
  const all = browser.flatMap((tag) => {
    try {
      return [new Intl.Locale(tag)];
    } catch {
      return []; // no language, such as "*"
    }
  });
  const first = all[0];
  // "de, de-AT" is Austria; "de, en-US" is Germany, because a second language says nothing of the place.
  const same = all.find((l) => l.language === first?.language && l.region);
  return same?.region ?? first?.maximize().region ?? "GB";
}

/** The locale of a language in a region. */
export function localeOf(language: string, region: string): string {
  const tag = `${language}-${region}`;
  // English of a region that the browser does not know would be American; the world's has the day first.
  const known = new Intl.NumberFormat(tag).resolvedOptions().locale !== "en";
  return language !== "en" || known ? tag : "en-001";
}

/**
 * The locale of money. English in most of Europe has the region's numbers but writes euros as the British do, so that
 * "1.234,5" would stand beside "€1,234.50". There the region's own language writes the amounts.
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

/** Whether somebody reads this: unit tests and the build have no browser. */
const browsed = typeof localStorage !== "undefined";

export const region = browsed ? regionOf(localStorage.getItem("region"), navigator.languages) : "GB";
export const locale = localeOf(language, region);

let ofMoney: string | undefined;
/** The locale that the reader's money is written in. */
export function moneyLocale(): string {
  ofMoney ??= moneyLocaleOf(locale, region);
  return ofMoney;
}

let sign: string | undefined;
/** The sign that the reader's locale writes before hundredths: "." or ",". */
export function decimalSign(): string {
  sign ??= new Intl.NumberFormat(locale).formatToParts(1.5).find((p) => p.type === "decimal")?.value ?? ".";
  return sign;
}
