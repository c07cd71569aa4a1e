/** Days are "2026-11-15" and months "2026-11", as the API writes them; a Date is only for showing. */
const noon = (day: string) => new Date(`${day}T12:00:00`);

/** A format is made when it is first used: making one takes longer than drawing ten rows. */
function as(o: Intl.DateTimeFormatOptions) {
  let made: Intl.DateTimeFormat | null = null;
  return (at: Date) => {
    made ??= new Intl.DateTimeFormat("en-GB", o);
    return made.format(at);
  };
}

const full = as({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
const short = as({ day: "numeric", month: "short" });
const dated = as({ day: "numeric", month: "short", year: "numeric" });
const monthLong = as({ month: "long", year: "numeric" });
const monthOnly = as({ month: "long" });
const monthShort = as({ month: "short" });
const clock = as({ hour: "2-digit", minute: "2-digit" });
const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

/** "Sat 14", where the month is said above. */
export const dayInMonth = (day: string) => `${weekdays[noon(day).getDay()]} ${Number(day.slice(8))}`;
export const dayFull = (day: string) => full(noon(day)).replace(",", "");
export const monthName = (month: string) => monthLong(noon(`${month}-01`));
export const monthWord = (month: string) => monthOnly(noon(`${month}-01`));
export const monthAbbr = (month: string) => monthShort(noon(`${month}-01`));
export const monthOf = (day: string) => day.slice(0, 7);

/** "14 Nov", with the year if it is another one than today's. */
export const dayShort = (day: string, today: string) =>
  (day.slice(0, 4) === today.slice(0, 4) ? short : dated)(noon(day));

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
  if (day === localDay(now)) return clock(at);
  if (day === localDay(new Date(now.getTime() - 86_400_000))) return `yesterday, ${clock(at)}`;
  return dayShort(day, localDay(now));
}

/** A moment that is still to come: "today at 18:00", "tomorrow at 07:00", "Mon 23 Nov at 07:00". */
export function ahead(iso: string, now = new Date()): string {
  const at = new Date(iso);
  const day = localDay(at);
  const today = localDay(now);
  const far = ordinal(day) - ordinal(today);
  const name = far === 0 ? "today" : far === 1 ? "tomorrow" : `${weekdays[at.getDay()]} ${dayShort(day, today)}`;
  return `${name} at ${clock(at)}`;
}

/** The heading of a day in a list of what was done. */
export function dayHead(day: string, now = new Date()): string {
  const name = dayFull(day).replace(/ \d{4}$/, day.slice(0, 4) === localDay(now).slice(0, 4) ? "" : "$&");
  if (day === localDay(now)) return `Today, ${name}`;
  if (day === localDay(new Date(now.getTime() - 86_400_000))) return `Yesterday, ${name}`;
  return name;
}

/** A day as a number, for a distance or a place in a chart. */
export const ordinal = (day: string) => Math.round(Date.parse(`${day}T00:00:00Z`) / 86_400_000);
export const dayAt = (n: number) => new Date(n * 86_400_000).toISOString().slice(0, 10);

/** "07:40", "Thu 2 Nov" or, of another year, "2 Nov 2025": how old something is. */
export function since(iso: string, now = new Date()): string {
  const day = localDay(new Date(iso));
  const today = localDay(now);
  if (ordinal(today) - ordinal(day) < 2 || day.slice(0, 4) !== today.slice(0, 4)) return moment(iso, now);
  return `${dayInMonth(day).split(" ")[0]} ${dayShort(day, today)}`;
}
