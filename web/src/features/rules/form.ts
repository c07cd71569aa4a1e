import { t } from "@lingui/core/macro";
import type { Action, Candidate, Rehearsal, Rule, RulePatch, RuleSpec } from "#/api/rules";
import type { Transaction } from "#/api/transactions";
import { complete, type Group, isGroup, parse, print, valuesOf } from "./tree";
import { actionWords, categoryOf, type Names } from "./words";

/** A rule as the editor shows it. */
export type Form = { name: string; when: Group; actions: Action[]; trigger: Rule["trigger"]; priority: number };

export const blank: Form = {
  name: "",
  when: { mode: "all", lines: [{ field: "name", op: "contains", value: "" }] },
  actions: [{ type: "set_category", category_slug: "" }],
  trigger: "on_create",
  priority: 10,
};

export const formOf = (r: Rule): Form => ({
  name: r.name,
  when: parse(r.conditions),
  actions: r.actions,
  trigger: r.trigger,
  priority: r.priority,
});

/** A new rule for the payee of a transaction: the best suggestion, else a rule for exactly this text of the bank. */
export function formFrom(
  t: Pick<Transaction, "name" | "category">,
  category: string | undefined,
  best: Pick<Candidate, "rule"> | undefined,
): Form {
  const when = parse(best?.rule.conditions ?? { field: "name", op: "eq", value: t.name });
  const slug = category ?? best?.rule.category_slug ?? t.category ?? "";
  return { ...blank, when, actions: [{ type: "set_category", category_slug: slug }] };
}

function done(a: Action): boolean {
  switch (a.type) {
    case "set_category":
      return a.category_slug !== "";
    case "add_comment":
      return a.content.trim() !== "";
    case "assign_counterparty":
      return Boolean(a.counterparty_id ?? a.counterparty_name?.trim());
    default:
      return a.tag_slug !== "";
  }
}

/** The message about what the rule still lacks; empty if it is complete. */
export function lacks(f: Form): string {
  if (!complete(f.when)) return t`Complete the conditions to see a preview.`;
  if (f.actions.length === 0) return t`Add at least one action.`;
  return f.actions.every(done) ? "" : t`Complete the action to see a preview.`;
}

const firstWord = (g: Group): string => {
  const line = g.lines[0];
  if (!line) return t`All transactions`;
  if (isGroup(line)) return firstWord(line);
  return line.op === "in" ? valuesOf(line.value).join(", ") : line.value;
};

/** The name of a rule. Without one, it is made from the first condition and the first action. */
export function nameOf(f: Form, names: Names): string {
  if (f.name.trim()) return f.name.trim();
  const a = f.actions[0];
  const does = !a ? t`nothing` : a.type === "set_category" ? categoryOf(a, names) : actionWords(a, names);
  return `${firstWord(f.when) || t`Transactions`} → ${does}`.slice(0, 200);
}

export const specOf = (f: Form, names: Names): RuleSpec => ({
  name: nameOf(f, names),
  conditions: print(f.when),
  actions: f.actions,
  trigger: f.trigger,
  priority: f.priority,
});

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** The differences from the saved rule. Unchanged parts are not sent, so that they stay exactly as they are. */
export function patchOf(f: Form, saved: Rule): RulePatch {
  const previous = formOf(saved);
  const patch: RulePatch = {};
  if (f.name.trim() && f.name.trim() !== previous.name) patch.name = f.name.trim();
  if (!same(f.when, previous.when)) patch.conditions = print(f.when);
  if (!same(f.actions, previous.actions)) patch.actions = f.actions;
  if (f.trigger !== previous.trigger) patch.trigger = f.trigger;
  if (f.priority !== previous.priority) patch.priority = f.priority;
  return patch;
}

/** The saved rules that overrule this one. When this rule is applied, they run too, so their decisions stay. */
export const overrulers = (r: Rehearsal): { id: string; name: string }[] => {
  const out = new Map<string, string>();
  for (const e of r.by_rule[0]?.effects ?? [])
    if (e.overridden_by?.rule_id) out.set(e.overridden_by.rule_id, e.overridden_by.name);
  return [...out].map(([id, name]) => ({ id, name }));
};
