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
  direction: "direction",
  uncategorized: "uncategorized",
  start_date: "from",
  end_date: "to",
};

/** Filters that the API takes several of, and the address one. */
const single: Record<string, keyof TransactionsSearch> = { account_id: "account", tags: "tag" };

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
    const word = name === "category" ? name : (words[name] ?? (all.length === 1 ? single[name] : undefined));
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
