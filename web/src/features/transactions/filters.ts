import type { Filters } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { firstDay, lastDay } from "#/lib/dates";

/** What the API is asked for, by what the address says. */
export function filtersOf(s: TransactionsSearch): Filters {
  return {
    ...(s.search ? { search: s.search } : {}),
    ...(s.category ? { category: s.category } : {}),
    ...(s.account ? { account_id: [s.account] } : {}),
    ...(s.tag ? { tags: [s.tag] } : {}),
    ...(s.direction ? { direction: s.direction } : {}),
    ...(s.uncategorized ? { uncategorized: true } : {}),
    ...(s.from ? { start_date: s.from } : {}),
    ...(s.to ? { end_date: s.to } : {}),
  };
}

/** The days of a month that the filters leave. */
export function daysOf(f: Filters, month: string): [string, string] {
  const [a, b] = [firstDay(month), lastDay(month)];
  return [f.start_date && f.start_date > a ? f.start_date : a, f.end_date && f.end_date < b ? f.end_date : b];
}
