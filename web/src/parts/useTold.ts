import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import type { Change } from "#/api/changes";
import { connections } from "#/api/connections";
import { rules } from "#/api/rules";
import { useCategories } from "./categories";
import { namesRule, told } from "./told";

/** Says changes in household words. The rules are asked for only if one of the changes names a rule. */
export function useTold(changes: readonly Change[]) {
  const { name } = useCategories();
  const book = useQuery({ ...rules, enabled: changes.some(namesRule) }).data;
  const banks = useQuery(connections).data;
  return useCallback(
    (c: Change) =>
      told(c, {
        category: name,
        rule: (id) => book?.find((r) => r.short_id === id)?.name,
        bank: (id) => banks?.find((b) => b.short_id === id)?.institution_name ?? undefined,
      }),
    [name, book, banks],
  );
}
