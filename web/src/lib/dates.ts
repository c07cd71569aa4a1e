import { t } from "@lingui/core/macro";
import { localDay, ordinal } from "./days";
import { locale } from "./locale";

export * from "./days";

const noon = (day: string) => new Date(`${day}T12:00:00`);

/** Makes a format on first use, because making one takes longer than drawing ten rows. */
function as(o: Intl.DateTimeFormatOptions) {
  let made: Intl.DateTimeFormat | null = null;
  return (at: Date) => {
    made ??= new Intl.DateTimeFormat(locale, o);
    return made.format(at);
  };
}

const full = as({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
const fullHere = as({ weekday: "long", day: "numeric", month: "long" });
const short = as({ day: "numeric", month: "short" });
const dated = as({ day: "numeric", month: "short", year: "numeric" });
const named = as({ weekday: "short", day: "numeric", month: "short" });
const namedDated = as({ weekday: "short", day: "numeric", month: "short", year: "numeric" });
const monthLong = as({ month: "long", year: "numeric" });
const monthOnly = as({ month: "long" });
const monthShort = as({ month: "short" });
const weekdayShort = as({ weekday: "short" });
const inMonth = as({ weekday: "short", day: "numeric" });
const clock24 = as({ hour: "2-digit", minute: "2-digit" });
const clock12 = as({ hour: "numeric", minute: "2-digit" });

let halves: boolean | undefined;
/** A time of day: "08:15", or "8:15 AM" where people use 12-hour times. */
function clock(at: Date): string {
  halves ??= new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hour12 ?? false;
  return halves ? clock12(at) : clock24(at);
}

/** An hour of the day as a time: "18:00". */
export const hourName = (hour: number) => clock(new Date(2026, 5, 1, hour));

/** Removes the comma that some browsers write after the weekday, in English with the day first: "Sat 14 Nov". */
const plainly = (s: string) => (locale.startsWith("en") ? s.replace(/^(\p{L}+), (?=\d)/u, "$1 ") : s);

/** "Sat 14", under a heading that names the month. */
export const dayInMonth = (day: string) =>
  locale.startsWith("en") ? `${weekdayShort(noon(day))} ${Number(day.slice(8))}` : inMonth(noon(day));
export const dayFull = (day: string) => plainly(full(noon(day)));
export const monthName = (month: string) => monthLong(noon(`${month}-01`));
export const monthWord = (month: string) => monthOnly(noon(`${month}-01`));
export const monthAbbr = (month: string) => monthShort(noon(`${month}-01`));

/** "14 Nov", with the year if it is not today's. */
export const dayShort = (day: string, today: string) =>
  (day.slice(0, 4) === today.slice(0, 4) ? short : dated)(noon(day));

/** "Sat 14 Nov", with the year if it is not today's. */
export const dayOfWeek = (day: string, today: string) =>
  plainly((day.slice(0, 4) === today.slice(0, 4) ? named : namedDated)(noon(day)));

const dayBefore = (now: Date) => localDay(new Date(now.getTime() - 86_400_000));

/** A past moment as people say it: the time if it was today or yesterday, else only the day. */
export function moment(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const day = localDay(at);
  const time = clock(at);
  if (day === localDay(now)) return time;
  if (day === dayBefore(now)) return t`yesterday at ${time}`;
  return dayShort(day, localDay(now));
}

/** A future moment: "today at 18:00", "tomorrow at 07:00", "Mon 23 Nov at 07:00". */
export function ahead(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const time = clock(at);
  const today = localDay(now);
  const far = ordinal(localDay(at)) - ordinal(today);
  if (far === 0) return t`today at ${time}`;
  if (far === 1) return t`tomorrow at ${time}`;
  const day = dayOfWeek(localDay(at), today);
  return t`${day} at ${time}`;
}

/** The heading of a day in a list of changes. */
export function dayHead(day: string, now = new Date()): string {
  const name = day.slice(0, 4) === localDay(now).slice(0, 4) ? plainly(fullHere(noon(day))) : dayFull(day);
  if (day === localDay(now)) return t`Today, ${name}`;
  if (day === dayBefore(now)) return t`Yesterday, ${name}`;
  return name;
}

/** When something happened: "07:40", "Thu 2 Nov" or, in another year, "2 Nov 2025". */
export function since(iso: string, now = new Date()): string {
  const day = localDay(new Date(iso));
  const today = localDay(now);
  if (ordinal(today) - ordinal(day) < 2 || day.slice(0, 4) !== today.slice(0, 4)) return moment(iso, now);
  return dayOfWeek(day, today);
}
