import { locale, region } from "./locale";

// For browsers without week data: regions whose weeks start on Sunday, and regions whose weeks start on Saturday.
const sunday =
  "AG AS AU BD BR BS BT BW BZ CA CO DM DO ET GT GU HK HN ID IL IN JM JP KE KH KR LA MH MM MO MT MX MZ NI NP PA PE PH PK PR PT PY SA SG SV TH TT TW UM US VE VI WS YE ZA ZW";
const saturday = "AE AF BH DJ DZ EG IQ IR JO KW LY OM QA SD SY";

type Weeks = { firstDay: number };
type LocaleInfo = { getWeekInfo?: () => Weeks; weekInfo?: Weeks };

/** The first day of the week in a region: 1 is Monday, 7 is Sunday. */
export function weekStart(region: string, locale: LocaleInfo = new Intl.Locale(`und-${region}`) as LocaleInfo): number {
  const info = locale.getWeekInfo?.() ?? locale.weekInfo;
  return info?.firstDay ?? (sunday.includes(region) ? 7 : saturday.includes(region) ? 6 : 1);
}

export const firstWeekday = weekStart(region);

/** The names of the days of the week, starting with a given day: 1 is Monday, 7 is Sunday. */
export function weekdays(first: number): { name: string; short: string }[] {
  const [name, short] = (["long", "short"] as const).map((weekday) => new Intl.DateTimeFormat(locale, { weekday }));
  return Array.from({ length: 7 }, (_, i) => {
    const day = new Date(2026, 5, ((first - 1 + i) % 7) + 1, 12); // 1 June 2026 is a Monday
    return { name: name?.format(day) ?? "", short: short?.format(day) ?? "" };
  });
}
