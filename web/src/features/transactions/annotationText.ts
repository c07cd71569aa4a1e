import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Schemas } from "#/api/client";

type Annotation = Pick<
  Schemas["Annotation"],
  "kind" | "action" | "before" | "after" | "actor_name" | "rule_name" | "actor_type"
>;

/** Describes an event of a transaction in one sentence. */
export function annotationText(a: Annotation, category: (slug: string) => string): string {
  const who = a.rule_name ? t`Rule “${{ rule: a.rule_name }}”` : a.actor_type === "system" ? "coffer" : a.actor_name;
  const named = (v: string | null) => (v ? category(v) : t`uncategorized`);
  const [before, after] = [named(a.before), named(a.after)];
  switch (a.kind) {
    case "category":
      if (a.action === "agreed") return t`${who} approved ${after}`;
      if (a.action === "released") return t`${who} undid the approval of ${after}`;
      return a.before
        ? t`${who} changed the category from ${before} to ${after}`
        : t`${who} set the category to ${after}`;
    case "tag": {
      const tag = (a.action === "removed" ? (a.before ?? a.after) : a.after) ?? "";
      return a.action === "removed" ? t`${who} removed #${tag}` : t`${who} added #${tag}`;
    }
    case "counterparty":
      return t`${who} changed the payee`;
    case "comment":
      return a.action === "removed" ? t`${who} deleted a comment` : t`${who} commented`;
    case "split":
      return a.action === "removed" ? t`${who} removed the split` : t`${who} split the transaction`;
    case "excluded_reason":
      return a.after ? t`${who} excluded it from totals` : t`${who} counted it in totals again`;
    case "refund_of":
      return a.after ? t`${who} confirmed it as a refund` : t`${who} removed the link to its purchase`;
    case "sync":
      if (a.action === "removed") return t`${who} deleted the transaction`;
      return i18n._(syncs[a.action] ?? msg`Updated by the bank`);
    default:
      return t`${who} reviewed it`;
  }
}

/** The effects that a sync can have on a transaction, by action. */
const syncs: Record<string, MessageDescriptor> = {
  posted: msg`Posted by the bank`,
  removed_by_provider: msg`Removed by the bank`,
  restored: msg`Restored`,
  created: msg`Added`,
};
