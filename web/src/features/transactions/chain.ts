import type { Schemas } from "#/api/client";
import { actorOf, makerOf } from "#/parts/maker";
import type { Maker } from "#/ui/Seal";

/** One answer to "why is it filed so": a value, who gave it, and in whose words. */
export type Link = { id: string; value: string | null; maker: Maker; reason: string; at: string | null; held: boolean };

type Field = Schemas["TransactionExplainedField"];
type Annotation = Schemas["Annotation"];

const by: Record<Maker["kind"], string> = {
  bank: "The bank says so",
  rule: "A rule",
  agent: "An agent",
  person: "A person",
};

function reason(maker: Maker, rule: string | null, note: string | null): string {
  const who = rule ? `Rule “${rule}”` : (maker.name ?? by[maker.kind]);
  return note ? `${who}: “${note}”` : who;
}

/** The values of a category, newest first: the one that holds now, then those that it replaced. */
export function chain(now: Field, history: Annotation[], bank: string | null): Link[] {
  const maker = makerOf(now.source, now.actor_name) ?? { kind: "bank" };
  const links: Link[] = [
    {
      id: "now",
      value: now.value,
      maker,
      reason: reason(maker, now.rule_name, now.note),
      at: now.set_at,
      held: now.held,
    },
  ];
  const set = history.filter((a) => a.kind === "category").sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  for (const a of set) {
    if (a.after === now.value && a.change_id === now.change_id) continue;
    const actor: Maker = a.rule_id ? { kind: "rule" } : actorOf(a);
    links.push({
      id: a.id,
      value: a.after,
      maker: actor,
      reason: reason(actor, a.rule_name, a.note),
      at: a.created_at,
      held: false,
    });
  }
  const first = set.at(-1)?.before ?? bank;
  if (first && links.at(-1)?.maker.kind !== "bank")
    links.push({
      id: "bank",
      value: first,
      maker: { kind: "bank" },
      reason: "The bank, with the payment itself",
      at: null,
      held: false,
    });
  return links;
}
