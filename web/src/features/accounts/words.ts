import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { Account } from "#/api/accounts";
import type { Connection, SyncLog } from "#/api/connections";
import { dayAt, ordinal, since } from "#/lib/dates";
import { fromFiles } from "#/lib/provider";
import { kindName } from "./kinds";

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

/** A bank's state in one line: the state now, the next step, and when that happens. */
export function stateOf(c: State, now = new Date()): string {
  const at = (iso: string) => since(iso, now);
  if (fromFiles(c) && c.status !== "disconnected")
    return c.last_sync_at ? t`Imported statements · last ${{ day: at(c.last_sync_at) }}` : t`Imported statements`;
  if (c.status === "disconnected") return t`Disconnected · history kept`;
  const last = c.last_sync_at ? t`last synced ${{ day: at(c.last_sync_at) }}` : t`not synced yet`;
  if (c.status === "pending_reauth")
    return c.consent_expires_at && new Date(c.consent_expires_at) < now
      ? t`Access expired ${{ day: at(c.consent_expires_at) }}`
      : [t`Reconnect needed`, last].join(" · ");
  if (c.paused) return [t`Paused`, last].join(" · ");
  const time = c.next_sync_at && soon(c.next_sync_at, now);
  if (c.status === "error")
    return [t`Sync failed`, last, time && t`retrying about ${time}`].filter(Boolean).join(" · ");
  const next = time && t`next sync about ${time}`;
  const until = c.consent_expires_at && t`access until ${{ day: at(c.consent_expires_at) }}`;
  return [capital(last), next, until].filter(Boolean).join(" · ");
}

const capital = (s: string) => s.charAt(0).toUpperCase() + s.slice(1);

/** A future moment: the time if it is today, else the day. */
function soon(iso: string, now: Date): string {
  if (new Date(iso) <= now) return t`now`;
  return since(iso, now);
}

type Span = { from: string; to: string };

/** The last days up to today, and for each whether the bank was read for it. */
export function covering(covered: readonly Span[], today: string, days: number): { day: string; read: boolean }[] {
  const last = ordinal(today);
  return Array.from({ length: days }, (_, i) => {
    const day = dayAt(last - days + 1 + i);
    return { day, read: covered.some((s) => s.from <= day && day <= s.to) };
  });
}

/**
 * How many days in a row, up to today, were not read. If yesterday was read, it is 0, because today is still running.
 */
export function missing(days: readonly { read: boolean }[]): number {
  const at = days.findLastIndex((d) => d.read);
  const n = days.length - 1 - at;
  return n > 1 ? n : 0;
}

const triggers: Record<SyncLog["trigger"], MessageDescriptor> = {
  schedule: msg`Scheduled`,
  webhook: msg`New data at the bank`,
  manual: msg`Manual`,
  initial: msg`First sync`,
  replay: msg`Full resync`,
  import: msg`Statement import`,
};

/** The result of a sync, in one line. */
export function outcomeOf(l: SyncLog): string {
  if (l.status === "running") return t`Running`;
  if (l.status === "cancelled") return t`Stopped`;
  if (l.status === "error") return l.error_message ?? t`Failed`;
  const parts = [
    l.added && plural(l.added, { one: "# new", other: "# new" }),
    l.modified && plural(l.modified, { one: "# updated", other: "# updated" }),
    l.removed && plural(l.removed, { one: "# removed", other: "# removed" }),
    l.quarantined && plural(l.quarantined, { one: "# unreadable", other: "# unreadable" }),
  ].filter(Boolean);
  return parts.length ? parts.join(", ") : t`No changes`;
}
export const triggerOf = (l: SyncLog) => i18n._(triggers[l.trigger]);

const kinds: readonly [MessageDescriptor, (a: Pick<Account, "type" | "subtype">) => boolean][] = [
  [msg`Checking and cash`, (a) => a.type === "depository" && a.subtype !== "savings"],
  [msg({ message: "Savings", context: "a group of accounts" }), (a) => a.type === "depository"],
  [msg`Credit cards`, (a) => a.type === "credit"],
  [msg`Investments`, (a) => a.type === "investment"],
  [msg`Loans`, (a) => a.type === "loan"],
  [msg`Other`, () => true],
];

/** The name of an account's group. Accounts are grouped and sorted by it. */
export const kindOf = (a: Pick<Account, "type" | "subtype">) =>
  i18n._(kinds.find(([, is]) => is(a))?.[0] ?? msg`Other`);

/** The type of an account: the name of our kind, else the bank's word for it. */
export const typeOf = (a: Account) => kindName(a) ?? (a.subtype ? capital(a.subtype.replaceAll("_", " ")) : kindOf(a));

/** The label of the choice that sets no kind: the bank's own type, or a request to choose if the bank reports none. */
export const unsetKind = (a: Account) =>
  a.type_guessed || (a.type === "other" && !a.subtype) ? t`Choose type` : t`${{ type: typeOf(a) }} (from bank)`;

/** Accounts in named groups. Groups by kind keep the order of the kinds; groups by person are sorted by name. */
export function grouped(all: readonly Account[], by: "kind" | "person"): [string, Account[]][] {
  const key = (a: Account) => (by === "kind" ? kindOf(a) : (a.user_name ?? t`No owner`));
  const groups = new Map<string, Account[]>();
  for (const a of all) groups.set(key(a), [...(groups.get(key(a)) ?? []), a]);
  const place = (name: string) => kinds.findIndex(([k]) => i18n._(k) === name);
  return [...groups].sort(([a], [b]) => (by === "kind" ? place(a) - place(b) : a.localeCompare(b)));
}

/** Words that distinguish accounts of the same name: the last digits, the type and the owner. */
export const about = (a: Account, withBank?: string | null) =>
  [withBank, a.mask && `••${a.mask}`, typeOf(a), a.user_name, a.hidden && t`hidden`].filter(Boolean).join(" · ");
