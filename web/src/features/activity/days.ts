import type { Change } from "#/api/changes";
import { localDay } from "#/lib/dates";

/** A change with the one that took it back, if any; reverts do not stand for themselves. */
export type Deed = { change: Change; undoneBy: Change | null };
export type Day = { day: string; deeds: Deed[] };

/**
 * The changes by day, newest first. A revert is folded into what it took back, so that nobody undoes an
 * undo by mistake; it stands alone only if what it took back is not loaded.
 */
export function daysOf(changes: Change[]): Day[] {
  const by = new Map(changes.map((c) => [c.id, c]));
  const days = new Map<string, Deed[]>();
  for (const change of changes) {
    if (change.reverts && by.has(change.reverts)) continue;
    const day = localDay(new Date(change.created_at));
    const undoneBy = change.reverted_by ? (by.get(change.reverted_by) ?? null) : null;
    days.set(day, [...(days.get(day) ?? []), { change, undoneBy }]);
  }
  return [...days].map(([day, deeds]) => ({ day, deeds }));
}

const causes: Record<Change["cause"], string> = {
  api: "in the app or over the API",
  tool: "by a tool of an assistant",
  rule: "by rules",
  sync: "with a sync of a bank",
  import: "with a file",
  workflow_run: "in a workflow",
  revert: "took something back",
};

export const causeOf = (c: Change) => causes[c.cause];

const fields: Record<string, string> = { category: "Category", counterparty: "Payee", tag: "Tag", comment: "Comment" };

/** A field in household words. */
export const fieldOf = (field: string) => fields[field.split(":")[0] ?? ""] ?? field.replaceAll("_", " ");
