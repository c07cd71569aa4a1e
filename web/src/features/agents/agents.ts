import { plural, t } from "@lingui/core/macro";
import { type Key, works } from "#/api/keys";
import type { Assistant, Member } from "#/api/people";
import { recordOf } from "#/parts/record";

/** An API key of an agent, or a connected assistant. */
export type Agent = {
  id: string;
  name: string;
  kind: "key" | "assistant";
  /** Its kind of access, in words, such as “Anna’s assistant”. */
  description: string;
  writes: boolean;
  limit: number | null;
  used: string | null;
  until: string | null;
  owner: string | null;
  /** Its track record, in words. */
  record: string | null;
};

const fromKey = (k: Key): Agent => ({
  id: k.id,
  name: k.actor_name ?? k.name,
  kind: "key",
  description: k.may.includes("administer")
    ? t`API key ${{ prefix: k.key_prefix }}…, admin rights`
    : t`API key ${{ prefix: k.key_prefix }}…`,
  writes: k.scope === "full_access",
  limit: k.max_writes_per_day,
  used: k.last_used_at,
  until: k.expires_at,
  owner: null,
  record: recordOf(k.record),
});

/** How many changes one assistant can make in a day. The server has the same fixed limit for all assistants. */
const assistantLimit = 2000;

function assistantOf(member: Member | undefined): string {
  return member ? t`${{ name: member.name }}’s assistant` : t`A member’s assistant`;
}

const fromAssistant = (a: Assistant, members: readonly Member[]): Agent => ({
  id: a.id,
  name: a.name,
  kind: "assistant",
  description: assistantOf(members.find((m) => m.id === a.user_id)),
  writes: a.scope === "full_access",
  limit: assistantLimit,
  used: a.last_used_at,
  until: a.expires_at,
  owner: a.user_id,
  record: recordOf(a.record),
});

/** All connected agents, the most recently used first. */
export function agentsOf(keys: readonly Key[], assistants: readonly Assistant[], members: readonly Member[]): Agent[] {
  return [
    ...keys.filter((k) => k.actor_type === "agent" && works(k)).map(fromKey),
    ...assistants.map((a) => fromAssistant(a, members)),
  ].sort((a, b) => (b.used ?? "").localeCompare(a.used ?? "") || a.name.localeCompare(b.name));
}

/** "2,000 changes" */
export const changes = (n: number) => plural(n, { one: "# change", other: "# changes" });

/** The changes of a week, in one line. */
export function weekOf(d: { changes: number; payments: number; undone: number; more: boolean }): string {
  if (d.changes === 0) return t`No changes`;
  const { payments: some, changes: all } = d;
  const done = d.more
    ? t`more than ${plural(some, { one: "# transaction", other: "# transactions" })} in more than ${plural(all, { one: "# change", other: "# changes" })}`
    : t`${plural(some, { one: "# transaction", other: "# transactions" })} in ${plural(all, { one: "# change", other: "# changes" })}`;
  if (d.undone === 0) return done;
  const undone =
    d.undone === d.changes
      ? t({ message: "all undone", context: "changes" })
      : plural({ undone: d.undone }, { one: "# undone", other: "# undone" });
  return `${done}, ${undone}`;
}

/** Quiet hours such as "22:00" to "07:00", or null unless both ends are set. */
export const quiet = (start: string | null, end: string | null) => (start && end ? { start, end } : null);
