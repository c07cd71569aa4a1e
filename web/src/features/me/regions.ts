import { locale, localeOf, moneyLocaleOf, regionOf } from "#/lib/locale";
import { weekdays, weekStart } from "#/lib/week";

/** Codes that have a name and are no place to live in. */
const places = /^(?!A[CQ]|BV|C[PQ]|DG|E[AUZ]|HM|IC|QO|T[AF]|U[MN]|X[AB]|ZZ)[A-Z]{2}$/;

/** The regions that the browser can name, by name. */
export function regions(): (readonly [string, string])[] {
  const names = new Intl.DisplayNames(locale, { type: "region", fallback: "none" });
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const { compare } = new Intl.Collator(locale);
  return letters
    .flatMap((a) => letters.map((b) => a + b))
    .filter((code) => places.test(code) && new Intl.Locale(`und-${code}`).region === code) // not what it was once called
    .flatMap((code) => {
      const name = names.of(code);
      return name ? [[code, name] as const] : [];
    })
    .sort(([, a], [, b]) => compare(a, b));
}

/** A language's own name for itself. */
export function ownName(language: string): string {
  const name = new Intl.DisplayNames(language, { type: "language" }).of(language) ?? language;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}

/** A date and an amount as a choice would show them, and the first day of its weeks. */
export function example(language: string, region: string, currency: string, day: Date) {
  const place = region || regionOf(null, navigator.languages);
  const of = localeOf(language, place);
  return {
    date: new Intl.DateTimeFormat(of, { day: "numeric", month: "short", year: "numeric" }).format(day),
    amount: new Intl.NumberFormat(moneyLocaleOf(of, place), { style: "currency", currency }).format(1234.5),
    weekday: weekdays(weekStart(place))[0]?.name ?? "",
  };
}
