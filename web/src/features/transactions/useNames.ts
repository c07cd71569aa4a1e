import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import { commonPayees, type Payee, payeeOf as payeeNamed } from "#/api/payees";
import { tags } from "#/api/tags";
import type { TransactionsSearch } from "#/lib/address";
import { localDay } from "#/lib/dates";
import { useCategories } from "#/parts/categories";
import type { Choice } from "#/ui/Picker";

/** The choices for each filter, and the names of the chosen values. Long lists load when someone opens them. */
export function useNames(search: TransactionsSearch) {
  const all = useQuery(accounts).data ?? [];
  const { choices, name, parent } = useCategories();
  const [opened, open] = useState<ReadonlySet<"tag" | "payee">>(new Set());
  const slugs = useQuery({ ...tags, enabled: opened.has("tag") }).data ?? [];
  const common = useQuery({ ...commonPayees({ transfers: true }), enabled: opened.has("payee") }).data ?? [];
  const at = payeeIn(search);
  const chosen = useQuery({ ...payeeNamed(at ?? ""), enabled: at !== undefined }).data;
  const people = new Map(all.flatMap((a) => (a.user_id && a.user_name ? [[a.user_id, a.user_name] as const] : [])));
  return {
    open: (what: "tag" | "payee") => open((was) => new Set([...was, what])),
    parent,
    categories: choices,
    accounts: all.map((a): Choice => ({ value: a.short_id, label: accountName(a), hint: a.iso_currency_code })),
    people: [...people].map(([value, label]): Choice => ({ value, label })),
    tags: slugs.map((x): Choice => ({ value: x.slug, label: x.slug, hint: x.name === x.slug ? undefined : x.name })),
    payees: payeeChoices(common),
    names: {
      category: name,
      account: (id: string) => {
        const a = all.find((x) => x.short_id === id || x.id === id);
        return a ? accountName(a) : id;
      },
      person: (id: string) => people.get(id) ?? id,
      payee: chosen?.payee_name,
      today: localDay(new Date()),
    },
  };
}

/** The payee in an address: its key, or else the id of its counterparty. */
export const payeeIn = ({ payee, counterparty }: TransactionsSearch) =>
  payee ?? (counterparty === "none" ? undefined : counterparty);

/** Payees to choose from. A payee with several currencies is listed once. */
export function payeeChoices(all: readonly Payee[]): Choice[] {
  const out = new Map<string, { label: string; count: number }>();
  for (const { payee, payee_name: label, counterparty, count } of all) {
    const value = counterparty ? `id:${counterparty.id}` : `key:${payee}`;
    out.set(value, { label, count: count + (out.get(value)?.count ?? 0) });
  }
  return [...out].map(([value, { label, count }]) => ({ value, label, hint: String(count) }));
}

/**
 * The search for a picked payee. A payee without a counterparty is found by its key, among transactions without a
 * counterparty.
 */
export function payeeOf(value: string): TransactionsSearch {
  const [kind, id] = value.split(":");
  return kind === "id"
    ? { counterparty: id, payee: undefined, similar: undefined, recurring: undefined }
    : { payee: id, counterparty: "none", similar: undefined, recurring: undefined };
}
