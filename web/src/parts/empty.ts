import { t } from "@lingui/core/macro";
import { monthName, monthOf, monthWord } from "#/lib/dates";

/** The days of the first and the newest transaction: null if there are no transactions, undefined while they load. */
export type Books = { first: string | null | undefined; last: string | null | undefined };

export type Nothing = {
  title: string;
  words: string;
  /** The nearest month that has something to show. */
  month?: string;
  /** Whether the household has no transactions at all. */
  empty?: true;
};

/** The text for a period without money in or out, and the month to look at instead. */
export function nothingIn(days: { from: string; to: string; name: string }, books: Books): Nothing {
  const { first, last } = books;
  const period = days.name;
  if (first === null)
    return {
      title: t`No transactions yet`,
      words: t`Connect a bank or import a statement. Your money in and out appears here.`,
      empty: true,
    };
  if (last && last < days.from)
    return {
      title: t`No transactions yet`,
      words: t`Nothing has posted in ${period}. Your newest transactions are from ${{ month: monthName(monthOf(last)) }}.`,
      month: monthOf(last),
    };
  if (first && first > days.to)
    return {
      title: t`No transactions`,
      words: t`Your transactions begin in ${{ month: monthName(monthOf(first)) }}.`,
      month: monthOf(first),
    };
  return {
    title: t`No money in or out`,
    words: t`Nothing in ${period} counts as money in or out. Transfers between your own accounts don’t.`,
  };
}

/**
 * Whether the data covers a period that begins on a day. The first transaction may come up to six days later, because
 * not every day has one. If it comes later than that, a comparison with this period would mislead.
 */
export const reaches = (books: Books, begin: string | undefined): boolean =>
  !!books.first && begin !== undefined && Date.parse(books.first) - Date.parse(begin) <= 6 * 86_400_000;

/** The label of the button that goes to a month. */
export const showMonth = (month: string) => t`Show ${{ month: monthWord(month) }}`;
