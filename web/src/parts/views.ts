import type { View } from "#/api/views";
import { readTransactions, type TransactionsSearch } from "#/lib/address";

/** Filters that have a word of their own in the address. */
const words: Record<string, keyof TransactionsSearch> = {
  search: "search",
  category_source: "filed",
  counterparty_id: "counterparty",
  payee: "payee",
  similar_to: "similar",
  recurring_id: "recurring",
  held: "held",
  has_comments: "comments",
  transfer: "transfer",
  pending: "pending",
  excluded: "excluded",
  excluded_reason: "left",
  origin: "origin",
  user_id: "person",
  amount: "amount",
  direction: "direction",
  uncategorized: "uncategorized",
  start_date: "from",
  end_date: "to",
};

/** Filters that the API takes several of, and the address too. */
const several: Record<string, keyof TransactionsSearch> = { category: "category", account_id: "account" };

/** Several tags in an address mean any of them. */
const tagsOf = (name: string, n: number) => (name === (n === 1 ? "tags" : "any_tag") ? "tag" : undefined);

/**
 * The address that shows a view, and the filters that no address can hold: programs may save more than
 * the list of payments knows.
 */
export function addressOf(filters: View["filters"]): { search: TransactionsSearch; left: string[] } {
  const raw: Record<string, unknown> = {};
  const from = new Map<string, string>();
  const left: string[] = [];
  for (const [name, value] of Object.entries(filters)) {
    const all = [value].flat();
    const word = words[name] ?? several[name] ?? tagsOf(name, all.length);
    if (!word) left.push(name);
    else {
      raw[word] = Array.isArray(value) ? all.join(",") : value;
      from.set(word, name);
    }
  }
  const read = readTransactions(raw);
  for (const [word, name] of from) if (read[word as keyof TransactionsSearch] === undefined) left.push(name);
  // Addresses are compared, so what is not said is not there.
  const search = Object.fromEntries(Object.entries(read).filter(([, v]) => v !== undefined));
  return { search, left: left.map((name) => name.replaceAll("_", " ")) };
}

/** Where a view leads. */
export const opening = (v: View): TransactionsSearch => ({ ...addressOf(v.filters).search, view: v.short_id });
