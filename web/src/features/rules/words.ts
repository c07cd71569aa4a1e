import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import type { Action } from "#/api/rules";
import { type Group, isGroup, type Line, type Mode, type Test, takesMany, valuesOf } from "./tree";

/** The type of a field's value: text, an amount, yes or no, or one of the household's records. */
export type Kind = "text" | "amount" | "flag" | "category" | "account" | "tag";

/** An operator, and a function that puts it into words after the name of a field. */
type Phrase = readonly [op: string, words: (field: string) => string];

const texts: readonly Phrase[] = [
  ["contains", (field) => t`${field} contains`],
  ["eq", (field) => t`${field} is`],
  ["in", (field) => t`${field} is any of`],
  ["not_contains", (field) => t`${field} does not contain`],
  ["neq", (field) => t`${field} is not`],
  ["matches", (field) => t`${field} matches regex`],
];

const few = (...ops: string[]) => texts.filter(([op]) => ops.includes(op));

type Compared = {
  name: MessageDescriptor;
  /** The name as it is written inside a sentence. */
  inside: MessageDescriptor;
  kind: Kind;
  ops: readonly Phrase[];
  rare?: true;
};

/** The fields that a rule can compare, with names for people. */
export const fields: Record<string, Compared> = {
  name: { name: msg`Description`, inside: msg`description`, kind: "text", ops: texts },
  // Often empty. It is not the payee on screens, which may come from the description.
  merchant_name: { name: msg`Merchant (from bank)`, inside: msg`merchant (from bank)`, kind: "text", ops: texts },
  detail: { name: msg`Memo`, inside: msg`memo`, kind: "text", ops: texts },
  amount: {
    name: msg`Amount`,
    inside: msg`amount`,
    kind: "amount",
    ops: [
      ["lt", (field) => t`${field} is less than`],
      ["lte", (field) => t`${field} is at most`],
      ["gt", (field) => t`${field} is greater than`],
      ["gte", (field) => t`${field} is at least`],
      ["eq", (field) => t`${field} is exactly`],
      ["neq", (field) => t`${field} is not`],
    ],
  },
  account_id: { name: msg`Account`, inside: msg`account`, kind: "account", ops: few("eq", "neq") },
  category: { name: msg`Category`, inside: msg`category`, kind: "category", ops: few("eq", "neq") },
  tags: {
    name: msg`Tags`,
    inside: msg`tags`,
    kind: "tag",
    ops: [
      ["contains", (field) => t`${field} include`],
      ["not_contains", (field) => t`${field} don’t include`],
      ["in", (field) => t`${field} include any of`],
    ],
  },
  pending: { name: msg`Pending`, inside: msg`pending`, kind: "flag", ops: few("eq") },
  account_name: { name: msg`Account name`, inside: msg`account name`, kind: "text", ops: texts },
  user_name: { name: msg`Owner`, inside: msg`owner`, kind: "text", ops: few("eq", "neq", "in") },
  category_primary: { name: msg`Bank category`, inside: msg`bank category`, kind: "text", ops: texts },
  category_detailed: { name: msg`Bank subcategory`, inside: msg`bank subcategory`, kind: "text", ops: texts },
  provider: { name: msg`Provider`, inside: msg`provider`, kind: "text", ops: few("eq", "neq") },
  iso_currency_code: { name: msg`Currency`, inside: msg`currency`, kind: "text", ops: few("eq", "neq", "in") },
  user_id: { name: msg`Owner (ID)`, inside: msg`owner (ID)`, kind: "text", ops: texts, rare: true },
};

const all: readonly Phrase[] = [...texts, ...Object.values(fields).flatMap((f) => f.ops)];

function phrase(field: string, op: string, name: MessageDescriptor | undefined): string {
  const words = (fields[field]?.ops ?? texts).concat(all).find(([o]) => o === op)?.[1];
  const called = name ? i18n._(name) : field;
  return words ? words(called) : `${called} ${op}`;
}

/** A field and its operator as one phrase: "Description contains". */
export const phraseOf = (field: string, op: string) => phrase(field, op, fields[field]?.name);

export const kindOf = (test: Test): Kind => {
  const f = fields[test.field];
  if (!f) return "text";
  return (f.kind === "category" || f.kind === "account") && !f.ops.some(([op]) => op === test.op) ? "text" : f.kind;
};

export const modes = (): readonly (readonly [Mode, string])[] => [
  ["all", t`all match`],
  ["any", t`any match`],
  ["none", t`none match`],
  ["some", t`not all match`],
];

export const triggers = () =>
  [
    ["on_create", t`New transactions`],
    ["on_change", t`Transactions the bank updates`],
    ["always", t`New and updated transactions`],
  ] as const;

export type Stage = "baseline" | "standard" | "refinement" | "override";
type Staged = { stage: Stage; from: number } & Record<"name" | "says" | "option", MessageDescriptor>;

export const stages: readonly Staged[] = [
  {
    stage: "baseline",
    from: 0,
    name: msg`Defaults`,
    says: msg`broad, run first`,
    option: msg`Run first (default)`,
  },
  { stage: "standard", from: 10, name: msg`Standard`, says: msg`most rules`, option: msg`Standard order` },
  {
    stage: "refinement",
    from: 50,
    name: msg`Refinements`,
    says: msg`run after standard rules`,
    option: msg`Run after standard rules`,
  },
  {
    stage: "override",
    from: 100,
    name: msg`Overrides`,
    says: msg`run last and win`,
    option: msg`Run last (override)`,
  },
];

export const stageOf = (priority: number) => stages.findLast((s) => priority >= s.from) ?? (stages[0] as Staged);

export const acts = (): readonly (readonly [Action["type"], string])[] => [
  ["set_category", t`Set category to`],
  ["add_tag", t`Add tag`],
  ["remove_tag", t`Remove tag`],
  ["assign_counterparty", t`Set payee to`],
  ["add_comment", t`Add comment`],
];

/** Functions that name the categories and accounts in conditions and actions. */
export type Names = { category: (slug: string) => string; account: (id: string) => string };

const and = (parts: string[]) => parts.reduce((list, next) => t`${list} and ${next}`);
const or = (parts: string[]) => parts.reduce((list, next) => t`${list} or ${next}`);

function comparand(test: Test, names: Names): string {
  const kind = kindOf(test);
  if (kind === "category") return test.value === "" ? t`Uncategorized` : names.category(test.value);
  if (kind === "account") return names.account(test.value);
  if (kind === "amount") return test.value;
  const words = takesMany(test.op) ? valuesOf(test.value) : [test.value];
  return words.length === 0 ? "" : or(words.map((w) => (w ? t`“${{ words: w }}”` : "…")));
}

/** A condition in words: "description contains “Rewe”". */
export function lineWords(l: Line, names: Names): string {
  if (isGroup(l)) return `(${groupWords(l, names)})`;
  if (kindOf(l) === "flag")
    return l.value === "true" ? t`the transaction is pending` : t`the transaction is not pending`;
  return t`${{ condition: phrase(l.field, l.op, fields[l.field]?.inside) }} ${{ value: comparand(l, names) }}`;
}

/** A group of conditions in words. */
export function groupWords(g: Group, names: Names): string {
  const inner = g.lines.map((l) => lineWords(l, names));
  if (inner.length === 0) return t`any transaction`;
  const joined = g.mode === "all" || g.mode === "some" ? and(inner) : or(inner);
  if (g.mode === "all" || g.mode === "any") return joined;
  return t`not ${{ conditions: inner.length > 1 ? `(${joined})` : joined }}`;
}

/** The name of the category that an action sets, or an ellipsis if none is chosen yet. */
export const categoryOf = (a: { category_slug: string }, names: Names) =>
  a.category_slug ? names.category(a.category_slug) : "…";

export function actionWords(a: Action, names: Names): string {
  switch (a.type) {
    case "set_category":
      return t`set the category to ${{ category: categoryOf(a, names) }}`;
    case "add_tag":
      return t`add the tag ${{ tag: a.tag_slug }}`;
    case "remove_tag":
      return t`remove the tag ${{ tag: a.tag_slug }}`;
    case "assign_counterparty":
      return a.counterparty_name === undefined
        ? t`set the payee to its saved name`
        : t`set the payee to ${{ payee: a.counterparty_name }}`;
    case "add_comment":
      return t`add the comment “${{ comment: a.content }}”`;
  }
}

/** A rule as one sentence. */
export function sentenceOf(when: Group, actions: readonly Action[], names: Names): string {
  const then = actions.length === 0 ? t`do nothing yet` : and(actions.map((a) => actionWords(a, names)));
  const said =
    when.lines.length === 0
      ? t`For all transactions, ${then}.`
      : t`If ${{ conditions: groupWords(when, names) }}, ${then}.`;
  return said.replace(/…\.$/, "…");
}
