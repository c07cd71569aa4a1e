import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { views } from "#/api/views";
import type { TransactionsSearch } from "#/lib/address";
import { addressOf } from "#/parts/views";
import { bare, same } from "./filters";

/** The saved views, and the one that the list shows or started from. */
export function useView(search: TransactionsSearch) {
  const all = useQuery(views).data ?? [];
  const now = bare(search);
  const view =
    all.find((v) => v.short_id === search.view) ??
    all.find((v) => {
      const at = addressOf(v.filters);
      return at.left.length === 0 && same(at.search, now);
    });
  const at = view && addressOf(view.filters);
  const changed = at !== undefined && !same(at.search, now);
  return {
    view,
    /** Filters of the view that the list does not support. */
    left: at?.left ?? [],
    changed,
    narrowed: Object.keys(now).length > 0,
    all,
    choices: all.map((v) => ({
      value: v.id,
      label: v === view && changed ? t`${{ view: v.name }} (edited)` : v.name,
      hint: v.shared ? t`Shared` : undefined,
    })),
  };
}
