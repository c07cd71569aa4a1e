import { locale, localeOf, moneyLocaleOf, regionOf } from "#/lib/locale";
import { weekdays, weekStart } from "#/lib/week";

/** Two-letter codes, except codes that have a name but are not places to live in. */
const places = /^(?!A[CQ]|BV|C[PQ]|DG|E[AUZ]|HM|IC|QO|T[AF]|U[MN]|X[AB]|ZZ)[A-Z]{2}$/;

/** The regions that the browser can name, sorted by name. */
export function regions(): (readonly [string, string])[] {
  const names = new Intl.DisplayNames(locale, { type: "region", fallback: "none" });
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const { compare } = new Intl.Collator(locale);
  return letters
    .flatMap((a) => letters.map((b) => a + b))
    .filter((code) => places.test(code) && new Intl.Locale(`und-${code}`).region === code) // skips former codes
    .flatMap((code) => {
      const name = names.of(code);
      return name ? [[code, name] as const] : [];
    })
    .sort(([, a], [, b]) => compare(a, b));
}

/** The name of a language in that language. */
export function ownName(language: string): string {
  const name = new Intl.DisplayNames(language, { type: "language" }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}

/** A date, an amount and the first day of the week in a language and region, as an example for a choice. */
export function example(language: string, region: string, currency: string, day: Date) {
  const place = region || regionOf(null, navigator.languages);
  const of = localeOf(language, place);
  return {
    date: new Intl.DateTimeFormat(of, { day: "numeric", month: "short", year: "numeric" }).format(day),
    amount: new Intl.NumberFormat(moneyLocaleOf(of, place), { style: "currency", currency }).format(1234.5),
    weekday: weekdays(weekStart(place))[0]?.name ?? "",
  };
}
