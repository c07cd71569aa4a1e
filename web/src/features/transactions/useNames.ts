import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import { tags } from "#/api/tags";
import { payees } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { localDay } from "#/lib/dates";
import { useCategories } from "#/parts/categories";
import type { Choice } from "#/ui/Picker";

/** The choices of each filter, and the names of the chosen ones. Long lists are loaded when someone opens them. */
export function useNames(search: TransactionsSearch) {
  const all = useQuery(accounts).data ?? [];
  const { choices, name, parent } = useCategories();
  const [opened, open] = useState<ReadonlySet<"tag" | "payee">>(new Set());
  const byPayee = search.payee ?? search.counterparty;
  const slugs = useQuery({ ...tags, enabled: opened.has("tag") }).data ?? [];
  const groups = useQuery({ ...payees, enabled: opened.has("payee") || byPayee !== undefined }).data?.groups ?? [];
  const people = new Map(all.flatMap((a) => (a.user_id && a.user_name ? [[a.user_id, a.user_name] as const] : [])));
  const payee = groups.find((g) => (search.payee ? g.payee === search.payee : g.ids?.payee === search.counterparty));
  return {
    open: (what: "tag" | "payee") => open((was) => new Set([...was, what])),
    parent,
    categories: choices,
    accounts: all.map((a): Choice => ({ value: a.short_id, label: accountName(a), hint: a.iso_currency_code })),
    people: [...people].map(([value, label]): Choice => ({ value, label })),
    tags: slugs.map((x): Choice => ({ value: x.slug, label: x.slug, hint: x.name === x.slug ? undefined : x.name })),
    payees: groups.flatMap((g): Choice[] => {
      const label = g.keys.payee;
      const id = g.ids?.payee;
      if (!label || !(id || g.payee)) return [];
      return [{ value: id ? `id:${id}` : `key:${g.payee}`, label, hint: String(g.count) }];
    }),
    names: {
      category: name,
      account: (id: string) => {
        const a = all.find((x) => x.short_id === id || x.id === id);
        return a ? accountName(a) : id;
      },
      person: (id: string) => people.get(id) ?? id,
      payee: payee?.keys.payee ?? undefined,
      today: localDay(new Date()),
    },
  };
}

/** A payee that was picked, as an address. One without a record is known by its key, and only where there is none. */
export function payeeOf(value: string): TransactionsSearch {
  const [kind, id] = value.split(":");
  return kind === "id"
    ? { counterparty: id, payee: undefined, similar: undefined, recurring: undefined }
    : { payee: id, counterparty: "none", similar: undefined, recurring: undefined };
}
