import { t } from "@lingui/core/macro";
import { useState } from "react";
import { namePayees, type Similar } from "#/api/payees";
import { undoStack } from "./undoStack";
import { useAction } from "./useAction";

/** The kinds of cached data that contain names of payees. */
export const touches = [
  "payees",
  "counterparties",
  "transactions",
  "changes",
  "rules",
  "recurring",
  "review",
  "findings",
  "overview",
  "accounts",
];

/** Gives payees one name; the toast can undo it. */
export const useNaming = (merges: boolean) =>
  useAction({
    act: async (body: Parameters<typeof namePayees>[0]) => {
      const r = await namePayees(body);
      if (r.change_id) undoStack.did([r.change_id]);
      return r;
    },
    touches,
    text: (r) =>
      merges ? t`Merged into ${{ payee: r.counterparty.name }}` : t`Renamed to ${{ payee: r.counterparty.name }}`,
    change: (r) => r.change_id,
  });

const place = "payees-apart";

const key = (set: readonly Similar[]) =>
  set
    .map((s) => s.payee)
    .sort()
    .join(" ");

const read = (): string[] => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? "[]");
    return Array.isArray(stored) ? stored.filter((k) => typeof k === "string") : [];
  } catch {
    return [];
  }
};

/**
 * The sets of similar payees that nobody has marked as different, and a function to mark one. This browser stores the
 * marks.
 */
export function useApart(sets: readonly (readonly Similar[])[]) {
  const [apart, setApart] = useState(read);
  return {
    open: sets.filter((s) => !apart.includes(key(s))),
    part(set: readonly Similar[]) {
      const next = [...new Set([...apart, key(set)])].slice(-200);
      localStorage.setItem(place, JSON.stringify(next));
      setApart(next);
    },
  };
}
