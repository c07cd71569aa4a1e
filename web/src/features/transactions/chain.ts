import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Schemas } from "#/api/client";
import { authorOf, authorOfChange } from "#/parts/author";
import type { Author } from "#/ui/AuthorBadge";

/** One step in the history of a transaction's category: a value, who set it, and why. */
export type Link = {
  id: string;
  value: string | null;
  author: Author;
  reason: string;
  at: string | null;
  held: boolean;
  /** Whether another value has replaced it. */
  over: boolean;
};

type Field = Schemas["TransactionExplainedField"];
type Annotation = Schemas["Annotation"];

const by: Record<Author["kind"], MessageDescriptor> = {
  bank: msg`From the bank`,
  rule: msg`A rule`,
  agent: msg`An agent`,
  person: msg`A person`,
};

function reason(author: Author, rule: string | null, note: string | null, agreed: boolean): string {
  const who = rule ? t`Rule “${rule}”` : (author.name ?? i18n._(by[author.kind]));
  if (agreed) return note ? t`Approved by ${who}: “${note}”` : t`Approved by ${who}`;
  return note ? t`${who}: “${note}”` : who;
}

/** The values of a category, newest first: the current one, then the ones that it replaced. */
export function chain(now: Field, history: Annotation[], bank: string | null): Link[] {
  const author = authorOf(now.source, now.actor_name) ?? { kind: "bank" };
  const set = history.filter((a) => a.kind === "category").sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const agreed = set.some((a) => a.change_id === now.change_id && a.action === "agreed");
  const links: Link[] = [
    {
      id: "now",
      value: now.value,
      author,
      reason: reason(author, now.rule_name, now.note, agreed),
      at: now.set_at,
      held: now.held,
      over: false,
    },
  ];
  for (const a of set) {
    if ((a.after === now.value && a.change_id === now.change_id) || a.action === "released") continue;
    const actor: Author = a.rule_id ? { kind: "rule" } : authorOfChange(a);
    links.push({
      id: a.id,
      value: a.after,
      author: actor,
      reason: reason(actor, a.rule_name, a.note, a.action === "agreed"),
      at: a.created_at,
      held: false,
      over: a.after !== now.value,
    });
  }
  const first = set.at(-1)?.before ?? bank;
  if (first && links.at(-1)?.author.kind !== "bank")
    links.push({
      id: "bank",
      value: first,
      author: { kind: "bank" },
      reason: t`From the bank`,
      at: null,
      held: false,
      over: first !== now.value,
    });
  return links;
}
