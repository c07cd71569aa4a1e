import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { accountName, accounts } from "#/api/accounts";
import { categories } from "#/api/categories";
import { useCategories } from "#/parts/categories";
import type { Groups } from "./Conditions";
import type { Names } from "./words";

/** The names of categories and accounts, to describe rules in words and to choose from. */
export function useNames() {
  const { name } = useCategories();
  const all = useQuery(accounts).data;
  const tree = useQuery(categories).data;
  return useMemo(() => {
    const by = new Map((all ?? []).map((a) => [a.id, accountName(a)]));
    const names: Names = { category: name, account: (id) => by.get(id) ?? t`a deleted account` };
    const groups = new Map<string, [string, string][]>();
    for (const c of tree ?? [])
      if (!c.hidden) groups.set(c.group, [...(groups.get(c.group) ?? []), [c.slug, c.display_name]]);
    return { names, accounts: [...by], categories: [...groups] as Groups };
  }, [name, all, tree]);
}
