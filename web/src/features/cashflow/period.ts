import { t } from "@lingui/core/macro";
import { dayShort, firstDay, lastDay, monthAbbr, monthName, monthOf, monthWord, shift } from "#/lib/dates";

export type Span = "month" | "quarter" | "year";
const months = { month: 1, quarter: 3, year: 12 } as const;

/** The first month of the month, quarter or year that contains a month. */
export function begin(span: Span, month: string): string {
  const m = Number(month.slice(5)) - 1;
  return shift(month, -(m % months[span]));
}

/** The days of a month, quarter or year, its name, and the periods before and after it. */
export function period(span: Span, month: string) {
  const first = begin(span, month);
  const last = shift(first, months[span] - 1);
  const year = first.slice(0, 4);
  const name =
    span === "month" ? monthName(first) : span === "year" ? year : `${monthWord(first)} – ${monthName(last)}`;
  return {
    name,
    short:
      span === "month"
        ? `${monthAbbr(first)} ${year}`
        : span === "year"
          ? year
          : t`Q${{ quarter: Math.floor(Number(first.slice(5)) / 3) + 1 }} ${year}`,
    from: firstDay(first),
    to: lastDay(last),
    before: shift(first, -months[span]),
    after: shift(first, months[span]),
  };
}

/** Names a range of days as people do: by its month or year if it is exactly that, else by its two ends. */
export function daysWord(from: string, to: string, today: string): string {
  if (from === to) return dayShort(from, today);
  const fullMonths = from.endsWith("-01") && to === lastDay(monthOf(to));
  if (fullMonths && monthOf(from) === monthOf(to)) return monthName(monthOf(from));
  if (fullMonths && from.slice(5) === "01-01" && to.slice(5) === "12-31" && from.slice(0, 4) === to.slice(0, 4))
    return from.slice(0, 4);
  if (fullMonths) return `${monthWord(monthOf(from))} – ${monthName(monthOf(to))}`;
  return `${dayShort(from, today)} – ${dayShort(to, today)}`;
}
