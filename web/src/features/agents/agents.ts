import { type Key, works } from "#/api/keys";
import type { Assistant, Member } from "#/api/people";
import { moment } from "#/lib/dates";
import { recordOf } from "#/parts/record";

/** A key or an assistant with which an agent is let in. */
export type Agent = {
  id: string;
  name: string;
  kind: "key" | "assistant";
  /** What it is, in words. */
  told: string;
  writes: boolean;
  limit: number | null;
  used: string | null;
  until: string | null;
  owner: string | null;
  /** What became of its decisions, in words. */
  record: string | null;
};

const fromKey = (k: Key): Agent => ({
  id: k.id,
  name: k.actor_name ?? k.name,
  kind: "key",
  told: `API key ${k.key_prefix}…${k.may.includes("administer") ? ", may run the household" : ""}`,
  writes: k.scope === "full_access",
  limit: k.max_writes_per_day,
  used: k.last_used_at,
  until: k.expires_at,
  owner: null,
  record: recordOf(k.record),
});

/** How many payments every assistant may change a day; the server has no other limit for them. */
const assistantLimit = 2000;

const fromAssistant = (a: Assistant, members: readonly Member[]): Agent => ({
  id: a.id,
  name: a.name,
  kind: "assistant",
  told: `Assistant of ${members.find((m) => m.id === a.user_id)?.name ?? "a member"}`,
  writes: a.scope === "full_access",
  limit: assistantLimit,
  used: a.last_used_at,
  until: a.expires_at,
  owner: a.user_id,
  record: recordOf(a.record),
});

/** Everyone who acts as an agent and is let in, the one that was here last first. */
export function agentsOf(keys: readonly Key[], assistants: readonly Assistant[], members: readonly Member[]): Agent[] {
  return [
    ...keys.filter((k) => k.actor_type === "agent" && works(k)).map(fromKey),
    ...assistants.map((a) => fromAssistant(a, members)),
  ].sort((a, b) => (b.used ?? "").localeCompare(a.used ?? "") || a.name.localeCompare(b.name));
}

const many = (n: number, one: string, more: boolean) =>
  `${more ? "more than " : ""}${n.toLocaleString("en")} ${n === 1 ? one : `${one}s`}`;

/** What was done in a week, in one line. */
export function weekOf(d: { changes: number; payments: number; undone: number; more: boolean }): string {
  if (d.changes === 0) return "Nothing";
  const what = `${many(d.payments, "payment", d.more)} in ${many(d.changes, "change", d.more)}`;
  return d.undone ? `${what}, ${d.undone === d.changes ? "all" : d.undone} undone` : what;
}

/** When it was last here. Its changes are known at once, while the time of its last use is written a little later. */
export function lastUsed(at: string | null, today: number, week: number): string {
  if (at) return moment(at);
  if (today > 0) return "Today";
  return week > 0 ? "This week" : "Not yet";
}

/** Hours as "22:00", or nothing if they are not both given. */
export const quiet = (start: string | null, end: string | null) => (start && end ? { start, end } : null);
