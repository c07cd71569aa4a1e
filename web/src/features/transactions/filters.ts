import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Filters } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { firstDay, lastDay } from "#/lib/dates";

/** The API's filters for an address. */
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
    ...(s.pending === undefined ? {} : { pending: s.pending }),
    ...(s.excluded ? { excluded: true } : {}),
    ...(s.left ? { excluded_reason: s.left } : {}),
    ...(s.origin ? { origin: s.origin } : {}),
    ...(s.account ? { account_id: s.account.split(",") } : {}),
    ...(s.person ? { user_id: s.person } : {}),
    ...(s.tag ? (s.tag.includes(",") ? { any_tag: s.tag.split(",") } : { tags: [s.tag] }) : {}),
    ...(s.amount ? { amount: s.amount } : {}),
    ...(s.direction ? { direction: s.direction } : {}),
    ...(s.uncategorized ? { uncategorized: true } : {}),
    ...(s.from ? { start_date: s.from } : {}),
    ...(s.to ? { end_date: s.to } : {}),
  };
}

/** The chosen categories with one more. It replaces the category above it and its own subcategories. */
export const withCategory = (chosen: string[], slug: string, parent: (slug: string) => string | null | undefined) => [
  ...chosen.filter((c) => c !== slug && c !== parent(slug) && parent(c) !== slug),
  slug,
];

/** Adds a value to a filter that can have several values in the address. */
export const withOne = (all: string | undefined, one: string) =>
  [...(all?.split(",") ?? []).filter((x) => x !== one), one].join(",");

/** Removes a value from such a filter. */
export const withoutOne = (all: string | undefined, one: string) =>
  (all?.split(",") ?? []).filter((x) => x !== one).join(",") || undefined;

/** The first and last day of a month within the filters' dates. */
export function daysOf(f: Filters, month: string): [string, string] {
  const [a, b] = [firstDay(month), lastDay(month)];
  return [f.start_date && f.start_date > a ? f.start_date : a, f.end_date && f.end_date < b ? f.end_date : b];
}

/** The filters that are either on or off, with their labels. */
export const switches: readonly { name: MessageDescriptor; is: TransactionsSearch }[] = [
  { name: msg`Uncategorized`, is: { uncategorized: true } },
  { name: msg`Money in`, is: { direction: "in" } },
  { name: msg`Money out`, is: { direction: "out" } },
  { name: msg`Pending`, is: { pending: true } },
  { name: msg`Posted`, is: { pending: false } },
  { name: msg`Locked`, is: { held: true } },
  { name: msg`Has comments`, is: { comments: true } },
  { name: msg`Transfers`, is: { transfer: true } },
  { name: msg`Not transfers`, is: { transfer: false } },
  { name: msg`Duplicates`, is: { excluded: true } },
  { name: msg`Excluded from totals`, is: { left: "any" } },
  { name: msg`Added manually`, is: { origin: "manual" } },
  { name: msg`Parts of splits`, is: { origin: "part" } },
  { name: msg`Categorized by a person`, is: { filed: "user" } },
  { name: msg`Categorized by a rule`, is: { filed: "rule" } },
  { name: msg`Categorized by an agent`, is: { filed: "agent" } },
  { name: msg`Categorized by the bank`, is: { filed: "provider" } },
];

type Key = keyof TransactionsSearch;

/** Whether a switch is on in an address. */
export const isOn = (s: TransactionsSearch, is: TransactionsSearch) =>
  (Object.keys(is) as Key[]).every((k) => s[k] === is[k]);

/** The change to the address that turns a switch off. */
export const without = (is: TransactionsSearch): TransactionsSearch =>
  Object.fromEntries(Object.keys(is).map((k) => [k, undefined]));

/** The filters in an address, without the open transaction and the saved view. */
export function bare({ open: _, view: __, ...narrowing }: TransactionsSearch): TransactionsSearch {
  return Object.fromEntries(Object.entries(narrowing).filter(([, v]) => v !== undefined));
}

/** Whether two addresses have the same filters. */
export const same = (a: TransactionsSearch, b: TransactionsSearch) =>
  Object.keys({ ...a, ...b }).every((k) => a[k as Key] === b[k as Key]);
