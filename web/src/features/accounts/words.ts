import type { Account } from "#/api/accounts";
import type { Connection, SyncLog } from "#/api/connections";
import { dayAt, ordinal, since } from "#/lib/dates";

type State = Pick<
  Connection,
  | "provider"
  | "status"
  | "status_message"
  | "status_reason"
  | "paused"
  | "consent_expires_at"
  | "last_sync_at"
  | "next_sync_at"
>;

/** A bank's state in one line: what is so, and what comes next and when. */
export function stateOf(c: State, now = new Date()): string {
  const at = (iso: string) => since(iso, now);
  if (c.provider === "csv" && c.status !== "disconnected")
    return c.last_sync_at ? `Filled from files, last ${at(c.last_sync_at)}` : "Filled from files";
  if (c.status === "disconnected") return "No longer linked; what it brought is kept";
  const last = c.last_sync_at ? `last fetched ${at(c.last_sync_at)}` : "nothing fetched yet";
  if (c.status === "pending_reauth")
    return c.consent_expires_at && new Date(c.consent_expires_at) < now
      ? `Permission ended on ${at(c.consent_expires_at)}`
      : `Wants you to sign in again, ${last}`;
  if (c.paused) return `Paused, ${last}`;
  const next = c.next_sync_at ? `next at about ${soon(c.next_sync_at, now)}` : "";
  if (c.status === "error")
    return ["Could not be read", last, next && `tries again ${next.slice(5)}`].filter(Boolean).join(" · ");
  const until = c.consent_expires_at ? `permission until ${at(c.consent_expires_at)}` : "";
  return [capital(last), next, until].filter(Boolean).join(" · ");
}

const capital = (s: string) => s.charAt(0).toUpperCase() + s.slice(1);

/** A moment to come: the time today, else the day. */
function soon(iso: string, now: Date): string {
  if (new Date(iso) <= now) return "now";
  return since(iso, now);
}

type Span = { from: string; to: string };

/** The last days up to today, each with whether the bank was read for it. */
export function covering(covered: readonly Span[], today: string, days: number): { day: string; read: boolean }[] {
  const last = ordinal(today);
  return Array.from({ length: days }, (_, i) => {
    const day = dayAt(last - days + 1 + i);
    return { day, read: covered.some((s) => s.from <= day && day <= s.to) };
  });
}

/** How many days up to today were not read, ending with today; a bank that was read yesterday misses none. */
export function missing(days: readonly { read: boolean }[]): number {
  const at = days.findLastIndex((d) => d.read);
  const n = days.length - 1 - at;
  return n > 1 ? n : 0;
}

const triggers: Record<SyncLog["trigger"], string> = {
  schedule: "by schedule",
  webhook: "because the bank told of news",
  manual: "by hand",
  initial: "for the first time",
  replay: "again from the start",
  import: "from a file",
};

/** What a sync did, in one line. */
export function outcomeOf(l: SyncLog): string {
  if (l.status === "running") return "Is running";
  if (l.status === "cancelled") return "Was stopped";
  if (l.status === "error") return l.error_message ?? "Failed";
  const parts = [
    l.added && `${l.added} new`,
    l.modified && `${l.modified} changed`,
    l.removed && `${l.removed} gone`,
    l.quarantined && `${l.quarantined} set aside`,
  ].filter(Boolean);
  return parts.length ? parts.join(", ") : "Nothing new";
}
export const triggerOf = (l: SyncLog) => triggers[l.trigger];

const kinds: readonly [string, (a: Pick<Account, "type" | "subtype">) => boolean][] = [
  ["Everyday", (a) => a.type === "depository" && a.subtype !== "savings"],
  ["Savings", (a) => a.type === "depository"],
  ["Cards", (a) => a.type === "credit"],
  ["Investments", (a) => a.type === "investment"],
  ["Loans", (a) => a.type === "loan"],
  ["Other", () => true],
];

/** What kind of account it is, in the order in which kinds are listed. */
export const kindOf = (a: Pick<Account, "type" | "subtype">) => kinds.find(([, is]) => is(a))?.[0] ?? "Other";

/** Accounts in groups, each named; kinds keep their order, and other groups are by name. */
export function grouped(all: readonly Account[], by: "kind" | "person"): [string, Account[]][] {
  const key = (a: Account) => (by === "kind" ? kindOf(a) : (a.user_name ?? "Nobody's"));
  const groups = new Map<string, Account[]>();
  for (const a of all) groups.set(key(a), [...(groups.get(key(a)) ?? []), a]);
  const place = (name: string) => kinds.findIndex(([k]) => k === name);
  return [...groups].sort(([a], [b]) => (by === "kind" ? place(a) - place(b) : a.localeCompare(b)));
}

/** What tells two accounts apart: the last digits, the kind and whose it is. */
export const about = (a: Account, withBank?: string | null) =>
  [withBank, a.mask && `··${a.mask}`, a.subtype?.replaceAll("_", " ") ?? a.type, a.user_name, a.hidden && "hidden"]
    .filter(Boolean)
    .join(" · ");
