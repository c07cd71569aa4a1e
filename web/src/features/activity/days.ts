import type { Change } from "#/api/changes";
import { localDay } from "#/lib/dates";

/** A change with the one that took it back, if any; reverts do not stand for themselves. */
export type Deed = { change: Change; undoneBy: Change | null };

/** Says a change in household words. */
export type Tell = (c: Change) => string;

/** What an agent did in a day stands together, so that it can be taken back together. */
export type Group = { actor: string | null; deeds: Deed[] };
export type Day = { day: string; groups: Group[] };

/**
 * The changes by day, newest first. A revert is folded into what it took back, so that nobody undoes an
 * undo by mistake; it stands alone only if what it took back is not loaded.
 */
export function daysOf(changes: Change[]): Day[] {
  const by = new Map(changes.map((c) => [c.id, c]));
  const days = new Map<string, Group[]>();
  for (const change of changes) {
    if (change.reverts && by.has(change.reverts)) continue;
    const day = localDay(new Date(change.created_at));
    const groups = days.get(day) ?? [];
    days.set(day, groups);
    const deed = { change, undoneBy: change.reverted_by ? (by.get(change.reverted_by) ?? null) : null };
    const actor = change.actor_type === "agent" ? change.actor_id : null;
    const same = actor && groups.find((g) => g.actor === actor);
    if (same) same.deeds.push(deed);
    else groups.push({ actor, deeds: [deed] });
  }
  return [...days].map(([day, groups]) => ({ day, groups }));
}

/** From when until when a day lasts here, or the hour of a moment until the end of its day. */
export function span(at: string, how: "day" | "hour"): { since: string; until: string } {
  const from = new Date(at);
  const until = new Date(at);
  until.setHours(24, 0, 0, 0);
  if (how === "day") from.setHours(0, 0, 0, 0);
  else from.setMinutes(0, 0, 0);
  return { since: from.toISOString(), until: until.toISOString() };
}

const causes: Record<Change["cause"], string> = {
  api: "in the app or over the API",
  tool: "by a tool of an assistant",
  rule: "by rules",
  sync: "with a sync of a bank",
  import: "with a file",
  workflow_run: "in a workflow",
  revert: "undid something",
};

export const causeOf = (c: Change) => causes[c.cause];
export const causeNames: [Change["cause"], string][] = [
  ["api", "In the app or the API"],
  ["tool", "By an assistant’s tool"],
  ["rule", "By rules"],
  ["sync", "With a sync"],
  ["import", "With a file"],
];

/** What marks a field that would stay. */
export const placeOf = (s: { id: string; field: string }) => `${s.id} ${s.field}`;
