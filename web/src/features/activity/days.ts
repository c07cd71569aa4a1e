import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Change } from "#/api/changes";
import { localDay } from "#/lib/dates";

/** A change with the revert that undid it, if there is one. */
export type ActivityItem = { change: Change; undoneBy: Change | null };

/** Describes a change in words for people. */
export type Describe = (c: Change) => string;

/** A group of changes on one day. All changes of an agent are one group, so that they can be undone together. */
export type Group = { actor: string | null; items: ActivityItem[] };
export type Day = { day: string; groups: Group[] };

/**
 * Changes by day, newest first. A revert is shown with the change that it undid, so that nobody undoes an undo by
 * mistake. A revert has an item of its own only if its change is not loaded.
 */
export function daysOf(changes: Change[]): Day[] {
  const by = new Map(changes.map((c) => [c.id, c]));
  const days = new Map<string, Group[]>();
  for (const change of changes) {
    if (change.reverts && by.has(change.reverts)) continue;
    const day = localDay(new Date(change.created_at));
    const groups = days.get(day) ?? [];
    days.set(day, groups);
    const item = { change, undoneBy: change.reverted_by ? (by.get(change.reverted_by) ?? null) : null };
    const actor = change.actor_type === "agent" ? change.actor_id : null;
    const same = actor && groups.find((g) => g.actor === actor);
    if (same) same.items.push(item);
    else groups.push({ actor, items: [item] });
  }
  return [...days].map(([day, groups]) => ({ day, groups }));
}

/**
 * The start and end of a moment's day in the browser's time zone. For "hour", the start is that of the moment's hour.
 */
export function span(at: string, how: "day" | "hour"): { since: string; until: string } {
  const from = new Date(at);
  const until = new Date(at);
  until.setHours(24, 0, 0, 0);
  if (how === "day") from.setHours(0, 0, 0, 0);
  else from.setMinutes(0, 0, 0);
  return { since: from.toISOString(), until: until.toISOString() };
}

const names: Record<Change["cause"], MessageDescriptor> = {
  api: msg`App or API`,
  tool: msg`Assistant`,
  rule: msg`Rule`,
  sync: msg`Bank sync`,
  import: msg({ message: "Import", context: "a kind of change" }),
  workflow_run: msg`Workflow`,
  revert: msg`Undo`,
};

export const causeOf = (cause: Change["cause"]) => i18n._(names[cause]);

/** The causes that the list can be filtered by. */
export const causes = ["api", "tool", "rule", "sync", "import"] as const;

/** The key of one field of one subject, to mark fields that an undo would not change. */
export const placeOf = (s: { id: string; field: string }) => `${s.id} ${s.field}`;
