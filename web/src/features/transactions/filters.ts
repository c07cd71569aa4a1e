import type { Filters } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { firstDay, lastDay } from "#/lib/dates";

/** What the API is asked for, by what the address says. */
export function filtersOf(s: TransactionsSearch): Filters {
  return {
    ...(s.search ? { search: s.search } : {}),
    ...(s.category ? { category: s.category.split(",") } : {}),
    ...(s.filed ? { category_source: s.filed } : {}),
    ...(s.counterparty ? { counterparty_id: s.counterparty } : {}),
    ...(s.payee ? { payee: s.payee } : {}),
    ...(s.similar ? { similar_to: s.similar } : {}),
    ...(s.recurring ? { recurring_id: s.recurring } : {}),
    ...(s.held ? { held: true } : {}),
    ...(s.comments ? { has_comments: true } : {}),
    ...(s.transfer === undefined ? {} : { transfer: s.transfer }),
    ...(s.pending ? { pending: true } : {}),
    ...(s.account ? { account_id: [s.account] } : {}),
    ...(s.tag ? { tags: [s.tag] } : {}),
    ...(s.direction ? { direction: s.direction } : {}),
    ...(s.uncategorized ? { uncategorized: true } : {}),
    ...(s.from ? { start_date: s.from } : {}),
    ...(s.to ? { end_date: s.to } : {}),
  };
}

/** A category beside those that are chosen. It replaces the one that it is a part of, and its own parts. */
export const withCategory = (chosen: string[], slug: string, parent: (slug: string) => string | null | undefined) => [
  ...chosen.filter((c) => c !== slug && c !== parent(slug) && parent(c) !== slug),
  slug,
];

/** The days of a month that the filters leave. */
export function daysOf(f: Filters, month: string): [string, string] {
  const [a, b] = [firstDay(month), lastDay(month)];
  return [f.start_date && f.start_date > a ? f.start_date : a, f.end_date && f.end_date < b ? f.end_date : b];
}

/** The filters that are on or off, with the words that stand for them. */
export const switches: readonly { name: string; is: TransactionsSearch }[] = [
  { name: "No category", is: { uncategorized: true } },
  { name: "Money in", is: { direction: "in" } },
  { name: "Money out", is: { direction: "out" } },
  { name: "Held by a person", is: { held: true } },
  { name: "With comments", is: { comments: true } },
  { name: "Pending", is: { pending: true } },
  { name: "Own transfers", is: { transfer: true } },
  { name: "No own transfers", is: { transfer: false } },
];

type Key = keyof TransactionsSearch;

/** Whether a switch is on in an address. */
export const isOn = (s: TransactionsSearch, is: TransactionsSearch) =>
  (Object.keys(is) as Key[]).every((k) => s[k] === is[k]);

/** The address without what a switch says. */
export const without = (is: TransactionsSearch): TransactionsSearch =>
  Object.fromEntries(Object.keys(is).map((k) => [k, undefined]));

/** What an address narrows by, without what is open and where it came from. */
export function bare({ open: _, view: __, ...narrowing }: TransactionsSearch): TransactionsSearch {
  return Object.fromEntries(Object.entries(narrowing).filter(([, v]) => v !== undefined));
}

/** Whether two addresses narrow alike. */
export const same = (a: TransactionsSearch, b: TransactionsSearch) =>
  Object.keys({ ...a, ...b }).every((k) => a[k as Key] === b[k as Key]);
