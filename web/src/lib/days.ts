/** Days are "2026-11-15" and months "2026-11", as the API writes them. lib/dates shows them to people. */

export const monthOf = (day: string) => day.slice(0, 7);

/** The month that is `by` months later, or earlier if `by` is negative. */
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

/** The day of a moment in the browser's time zone. */
export function localDay(at: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** A day as a number of days since 1970, to compute distances and positions in a chart. */
export const ordinal = (day: string) => Math.round(Date.parse(`${day}T00:00:00Z`) / 86_400_000);
export const dayAt = (n: number) => new Date(n * 86_400_000).toISOString().slice(0, 10);
