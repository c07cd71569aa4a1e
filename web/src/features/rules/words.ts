import type { Action } from "#/api/rules";
import { type Group, isGroup, type Line, type Mode, type Test, takesMany, valuesOf } from "./tree";

/** What a field is compared with: words, an amount, yes or no, or one of what the household has. */
export type Kind = "text" | "amount" | "flag" | "category" | "account" | "tag";

type Phrase = readonly [op: string, words: string];

const texts: readonly Phrase[] = [
  ["contains", "contains"],
  ["eq", "is"],
  ["in", "is one of"],
  ["not_contains", "does not contain"],
  ["neq", "is not"],
  ["matches", "fits the pattern"],
];

const few = (...ops: string[]) => texts.filter(([op]) => ops.includes(op));

/** The fields that a rule can look at, in household words. */
export const fields: Record<string, { name: string; kind: Kind; ops: readonly Phrase[]; rare?: true }> = {
  merchant_name: { name: "Payee", kind: "text", ops: texts },
  name: { name: "Bank’s text", kind: "text", ops: texts },
  detail: { name: "Purpose", kind: "text", ops: texts },
  amount: {
    name: "Amount",
    kind: "amount",
    ops: [
      ["lt", "is below"],
      ["lte", "is at most"],
      ["gt", "is above"],
      ["gte", "is at least"],
      ["eq", "is exactly"],
      ["neq", "is not"],
    ],
  },
  account_id: { name: "Account", kind: "account", ops: few("eq", "neq") },
  category: { name: "Category", kind: "category", ops: few("eq", "neq") },
  tags: {
    name: "Tags",
    kind: "tag",
    ops: [
      ["contains", "have"],
      ["not_contains", "do not have"],
      ["in", "have one of"],
    ],
  },
  pending: { name: "Pending", kind: "flag", ops: few("eq") },
  account_name: { name: "Account’s name", kind: "text", ops: texts },
  user_name: { name: "Owner", kind: "text", ops: few("eq", "neq", "in") },
  category_primary: { name: "Bank’s category", kind: "text", ops: texts },
  category_detailed: { name: "Bank’s finer category", kind: "text", ops: texts },
  provider: { name: "Source", kind: "text", ops: few("eq", "neq") },
  iso_currency_code: { name: "Currency", kind: "text", ops: few("eq", "neq", "in") },
  user_id: { name: "Owner (by id)", kind: "text", ops: texts, rare: true },
};

const all: readonly Phrase[] = [...texts, ...Object.values(fields).flatMap((f) => f.ops)];

/** A field and its operator are one phrase: "Payee contains". */
export const phraseOf = (field: string, op: string) =>
  `${fields[field]?.name ?? field} ${(fields[field]?.ops ?? texts).concat(all).find(([o]) => o === op)?.[1] ?? op}`;

export const kindOf = (t: Test): Kind => {
  const f = fields[t.field];
  if (!f) return "text";
  return (f.kind === "category" || f.kind === "account") && !f.ops.some(([op]) => op === t.op) ? "text" : f.kind;
};

export const modes: readonly (readonly [Mode, string])[] = [
  ["all", "all of these hold"],
  ["any", "one of these holds"],
  ["none", "none of these holds"],
  ["some", "not all of these hold"],
];

export const triggers = [
  ["on_create", "On every new payment"],
  ["on_change", "When the bank changes a payment"],
  ["always", "On new and on changed payments"],
] as const;

export type Stage = "baseline" | "standard" | "refinement" | "override";

export const stages: readonly { stage: Stage; from: number; name: string; says: string; option: string }[] = [
  { stage: "baseline", from: 0, name: "First", says: "broad defaults", option: "First, as a default" },
  { stage: "standard", from: 10, name: "Then", says: "most rules", option: "Then, with most rules" },
  {
    stage: "refinement",
    from: 50,
    name: "After that",
    says: "they see what the rules before them did",
    option: "After that, seeing what others did",
  },
  { stage: "override", from: 100, name: "Last", says: "they have the final word", option: "Last, with the final word" },
];

export const stageOf = (priority: number) => stages.findLast((s) => priority >= s.from) ?? stages[0];

export const acts: readonly (readonly [Action["type"], string])[] = [
  ["set_category", "File under"],
  ["add_tag", "Tag with"],
  ["remove_tag", "Take off the tag"],
  ["assign_counterparty", "Call the payee"],
  ["add_comment", "Comment"],
];

/** The names of what conditions and actions hold by id or slug. */
export type Names = { category: (slug: string) => string; account: (id: string) => string };

function comparand(t: Test, names: Names): string {
  const kind = kindOf(t);
  if (kind === "flag") return t.value === "true" ? "yes" : "no";
  if (kind === "category") return t.value === "" ? "none" : names.category(t.value);
  if (kind === "account") return names.account(t.value);
  if (kind === "amount") return t.value;
  const words = takesMany(t.op) ? valuesOf(t.value) : [t.value];
  return words.map((w) => (w ? `“${w}”` : "…")).join(" or ");
}

const lower = (s: string) => s.charAt(0).toLowerCase() + s.slice(1);

/** A line in words: "payee contains “Rewe”". */
export function lineWords(l: Line, names: Names): string {
  if (isGroup(l)) return `(${groupWords(l, names)})`;
  return `${lower(phraseOf(l.field, l.op))} ${comparand(l, names)}`;
}

/** Conditions in words. */
export function groupWords(g: Group, names: Names): string {
  const inner = g.lines.map((l) => lineWords(l, names));
  if (inner.length === 0) return "anything";
  const joined = inner.join(g.mode === "all" || g.mode === "some" ? " and " : " or ");
  return g.mode === "none" || g.mode === "some" ? `not ${inner.length > 1 ? `(${joined})` : joined}` : joined;
}

export function actionWords(a: Action, names: Names): string {
  switch (a.type) {
    case "set_category":
      return `file under ${a.category_slug ? names.category(a.category_slug) : "…"}`;
    case "add_tag":
      return `tag with ${a.tag_slug}`;
    case "remove_tag":
      return `take off the tag ${a.tag_slug}`;
    case "assign_counterparty":
      return `call the payee ${a.counterparty_name ?? "by its kept name"}`;
    case "add_comment":
      return `comment “${a.content}”`;
  }
}

/** The whole rule as one sentence. */
export function sentenceOf(when: Group, actions: readonly Action[], names: Names): string {
  const then = actions.map((a) => actionWords(a, names)).join(" and ") || "do nothing yet";
  if (when.lines.length === 0) return `For every payment, ${then}.`;
  return `When ${groupWords(when, names)}, ${then}.`;
}
