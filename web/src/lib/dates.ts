/** Days are "2026-11-15" and months "2026-11", as the API writes them; a Date is only for showing. */
const noon = (day: string) => new Date(`${day}T12:00:00`);
const as = (o: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat("en-GB", o);

const near = as({ weekday: "short", day: "numeric" });
const full = as({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
const short = as({ day: "numeric", month: "short" });
const dated = as({ day: "numeric", month: "short", year: "numeric" });
const monthLong = as({ month: "long", year: "numeric" });
const monthOnly = as({ month: "long" });
const monthShort = as({ month: "short" });
const clock = as({ hour: "2-digit", minute: "2-digit" });

const flip = (s: string) => s.replace(/^(\d+) (\w+)$/, "$2 $1");

/** "Sat 14", where the month is said above. */
export const dayInMonth = (day: string) => flip(near.format(noon(day)));
export const dayFull = (day: string) => full.format(noon(day)).replace(",", "");
export const monthName = (month: string) => monthLong.format(noon(`${month}-01`));
export const monthWord = (month: string) => monthOnly.format(noon(`${month}-01`));
export const monthAbbr = (month: string) => monthShort.format(noon(`${month}-01`));
export const monthOf = (day: string) => day.slice(0, 7);

/** "14 Nov", with the year if it is another one than today's. */
export const dayShort = (day: string, today: string) =>
  (day.slice(0, 4) === today.slice(0, 4) ? short : dated).format(noon(day));

/** The month so many before or after. */
export function shift(month: string, by: number): string {
  const [y, m] = month.split("-").map(Number) as [number, number];
  const n = y * 12 + m - 1 + by;
  return `${Math.floor(n / 12)}-${String((n % 12) + 1).padStart(2, "0")}`;
}

export const daysIn = (month: string): number => {
  const [y, m] = month.split("-").map(Number) as [number, number];
  return new Date(y, m, 0).getDate();
};
export const firstDay = (month: string) => `${month}-01`;
export const lastDay = (month: string) => `${month}-${String(daysIn(month)).padStart(2, "0")}`;

/** The day of a moment, here. */
export function localDay(at: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** A moment as people say it: the time today and yesterday, else the day. */
export function moment(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const day = localDay(at);
  if (day === localDay(now)) return clock.format(at);
  if (day === localDay(new Date(now.getTime() - 86_400_000))) return `yesterday, ${clock.format(at)}`;
  return dayShort(day, localDay(now));
}

/** The heading of a day in a list of what was done. */
export function dayHead(day: string, now = new Date()): string {
  const name = dayFull(day).replace(/ \d{4}$/, day.slice(0, 4) === localDay(now).slice(0, 4) ? "" : "$&");
  if (day === localDay(now)) return `Today, ${name}`;
  if (day === localDay(new Date(now.getTime() - 86_400_000))) return `Yesterday, ${name}`;
  return name;
}
