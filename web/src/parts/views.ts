import type { View } from "#/api/views";
import { readTransactions, type TransactionsSearch } from "#/lib/address";

/** The filters of the API that have one value, each with its name in the address. */
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

/** The filters that can have several values, in the API and in the address. */
const several: Record<string, keyof TransactionsSearch> = { category: "category", account_id: "account" };

/**
 * The name of tags in the address. Several tags there mean any of them, so a view that requires all of them has no
 * address.
 */
const tagsOf = (name: string, n: number) => (name === (n === 1 ? "tags" : "any_tag") ? "tag" : undefined);

/**
 * The address that shows a view, and the names of its filters that no address can express. Programs can save filters
 * that the list of transactions does not have.
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
  // Addresses are compared, so unset filters must be absent.
  const search = Object.fromEntries(Object.entries(read).filter(([, v]) => v !== undefined));
  return { search, left: left.map((name) => name.replaceAll("_", " ")) };
}

/** The search of the address that opens a view. */
export const opening = (v: View): TransactionsSearch => ({ ...addressOf(v.filters).search, view: v.short_id });
