import { plural, t } from "@lingui/core/macro";
import type { Change } from "#/api/changes";
import { transactions } from "#/lib/words";
import { actorName } from "./actor";

type Done = Pick<Change, "action" | "of_action" | "subject" | "count" | "with" | "payee">;
/** The fields that describe a change. */
export type Summarized = Done & Pick<Change, "actor_type" | "actor_id" | "actor_name" | "cause">;

/**
 * Describes a change in one sentence, made from its data. Names only appear in quotation marks and are never
 * interpreted.
 */
export function changeSummary(c: Summarized): string {
  const did = done(c);
  if (c.actor_type === "system" && c.cause === "sync") return did.charAt(0).toUpperCase() + did.slice(1);
  const who = c.actor_type === "system" ? "coffer" : actorName(c);
  return t`${who} ${did}`;
}

const quoted = (name: string) => t`“${name}”`;

/** The quoted name of a record that a change was about, or a general word if the record no longer exists. */
const named = (ref: { name: string | null } | undefined, gone: string) => (ref?.name ? quoted(ref.name) : gone);

function some(c: Done): string {
  const n = c.count;
  if (!c.payee) return transactions(n);
  const payee = quoted(c.payee);
  return plural(n, { one: `# ${payee} transaction`, other: `# ${payee} transactions` });
}

type Kind = NonNullable<Change["subject"]>["kind"];

const things: Record<Kind, { one: () => string; named: (name: string) => string; many: (n: number) => string }> = {
  transaction: { one: () => transactions(1), named: () => transactions(1), many: transactions },
  rule: {
    one: () => t`a rule`,
    named: (name) => t`the rule “${name}”`,
    many: (n) => plural(n, { one: "# rule", other: "# rules" }),
  },
  tag: {
    one: () => t`a tag`,
    named: (name) => t`the tag “${name}”`,
    many: (n) => plural(n, { one: "# tag", other: "# tags" }),
  },
  category: {
    one: () => t`a category`,
    named: (name) => t`the category “${name}”`,
    many: (n) => plural(n, { one: "# category", other: "# categories" }),
  },
  counterparty: {
    one: () => t`a payee`,
    named: (name) => t`the payee “${name}”`,
    many: (n) => plural(n, { one: "# payee", other: "# payees" }),
  },
  account: {
    one: () => t`an account`,
    named: (name) => t`the account “${name}”`,
    many: (n) => plural(n, { one: "# account", other: "# accounts" }),
  },
  account_link: {
    one: () => t`an account link`,
    named: (name) => t`the account link “${name}”`,
    many: (n) => plural(n, { one: "# account link", other: "# account links" }),
  },
  report: {
    one: () => t`a report`,
    named: (name) => t`the report “${name}”`,
    many: (n) => plural(n, { one: "# report", other: "# reports" }),
  },
  target: {
    one: () => t`a budget`,
    named: (name) => t`the budget for “${name}”`,
    many: (n) => plural(n, { one: "# budget", other: "# budgets" }),
  },
  pattern: {
    one: () => t`a recurring payment`,
    named: (name) => t`the recurring payment “${name}”`,
    many: (n) => plural(n, { one: "# recurring payment", other: "# recurring payments" }),
  },
  finding: {
    one: () => t`an alert`,
    named: (name) => t`the alert “${name}”`,
    many: (n) => plural(n, { one: "# alert", other: "# alerts" }),
  },
};

/** The subject of a change: "the rule “Rent”", "3 rules", "2 “Kiosk” transactions". */
function thing(c: Done): string {
  const kind = c.subject?.kind ?? "transaction";
  if (kind === "transaction") return some(c);
  if (c.subject?.name) return things[kind].named(c.subject.name);
  return c.count > 1 ? things[kind].many(c.count) : things[kind].one();
}

const phrases: Record<Change["action"], (c: Done) => string> = {
  categorized: (c) =>
    c.with.category
      ? t`categorized ${{ some: some(c) }} as ${{ category: named(c.with.category, t`a deleted category`) }}`
      : t`categorized ${{ some: some(c) }}`,
  uncategorized: (c) => t`removed the category of ${{ some: some(c) }}`,
  tagged: (c) =>
    c.with.tag
      ? t`added the tag ${{ tag: named(c.with.tag, t`a deleted tag`) }} to ${{ some: some(c) }}`
      : t`added tags to ${{ some: some(c) }}`,
  untagged: (c) =>
    c.with.tag
      ? t`removed the tag ${{ tag: named(c.with.tag, t`a deleted tag`) }} from ${{ some: some(c) }}`
      : t`removed tags from ${{ some: some(c) }}`,
  reviewed: (c) => t`reviewed ${{ some: some(c) }}`,
  queued: (c) => t`marked ${{ some: some(c) }} for review`,
  payee_set: (c) =>
    c.with.counterparty?.name
      ? t`set the payee of ${{ some: some(c) }} to ${{ payee: quoted(c.with.counterparty.name) }}`
      : t`set the payee of ${{ some: some(c) }}`,
  payee_cleared: (c) => t`removed the payee from ${{ some: some(c) }}`,
  commented: (c) => t`added a comment to ${{ some: some(c) }}`,
  split: (c) => t`split ${{ some: some(c) }}`,
  joined: (c) => t`removed the split of ${{ some: some(c) }}`,
  excluded: (c) => t`left ${{ some: some(c) }} out of totals`,
  included: (c) => t`counted ${{ some: some(c) }} in totals again`,
  created: (c) => t`added ${{ thing: thing(c) }}`,
  edited: (c) => t`edited ${{ thing: thing(c) }}`,
  deleted: (c) => t`deleted ${{ thing: thing(c) }}`,
  restored: (c) => t`restored ${{ thing: thing(c) }}`,
  merged: (c) =>
    c.with.into?.name
      ? t`merged ${{ thing: thing(c) }} into ${{ into: quoted(c.with.into.name) }}`
      : t`merged ${{ thing: thing(c) }} into another`,
  imported: (c) => {
    const all = thing({ ...c, payee: null }); // a file is called after its account, not after one row's payee
    return c.with.account?.name
      ? t`imported ${{ thing: all }} into ${{ account: quoted(c.with.account.name) }}`
      : t`imported ${{ thing: all }}`;
  },
  synced: (c) => {
    const bank = c.with.connection?.name;
    return bank ? t`synced ${{ bank: quoted(bank) }}` : t`synced a bank`;
  },
  moved_in: (c) => t`moved in ${{ thing: thing(c) }}`,
  rules_applied: (c) =>
    c.with.rule?.name
      ? t`applied the rule “${{ name: c.with.rule.name }}” to ${{ some: some(c) }}`
      : t`applied rules to ${{ some: some(c) }}`,
  linked: (c) => {
    if (c.subject?.kind !== "account_link") return t`matched ${{ some: some(c) }}`;
    if (c.subject.name) return t`linked the accounts ${{ accounts: quoted(c.subject.name) }}`;
    return c.count > 1 ? t`confirmed ${{ thing: thing(c) }}` : t`linked two accounts`;
  },
  link_rejected: (c) => t`rejected ${{ thing: thing(c) }}`,
  pair_confirmed: (c) => t`confirmed a match of ${{ thing: thing(c) }}`,
  pair_rejected: (c) => t`rejected a match of ${{ thing: thing(c) }}`,
  link_decided: (c) =>
    c.subject?.kind === "account_link" ? t`edited ${{ thing: thing(c) }}` : t`unmatched ${{ some: some(c) }}`,
  balance_set: (c) => t`changed a balance of ${{ thing: thing(c) }}`,
  dismissed: (c) => t`dismissed ${{ thing: thing(c) }}`,
  reverted: (c) => t`undid: ${{ change: again(c) }}`,
  redone: (c) => t`redid: ${{ change: again(c) }}`,
  mixed: (c) => (c.count > 0 ? t`made several changes to ${{ some: some(c) }}` : t`made several changes`),
};

const done = (c: Done): string => (phrases[c.action] ?? phrases.mixed)(c);

/** The words for the action that a revert undid or redid. */
const again = (c: Done): string => phrases[c.of_action ?? "mixed"](c);
