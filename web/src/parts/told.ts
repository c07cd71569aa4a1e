import type { Change } from "#/api/changes";

/** How people call what a summary names by its slug or its short id; nothing for what is gone. */
export type Names = {
  category: (slug: string) => string;
  rule: (id: string) => string | undefined;
  bank: (id: string) => string | undefined;
};

/**
 * What was done, in one sentence and in household words. The server's summary names slugs, short ids,
 * transactions and their payee if they have one in common; a stranger may have written that name.
 */
export function told(c: Pick<Change, "summary" | "actor_type" | "actor_name" | "cause">, names: Names): string {
  const deed = words(c.summary, names);
  if (c.actor_type === "system" && c.cause === "sync") return deed.charAt(0).toUpperCase() + deed.slice(1);
  const who = c.actor_type === "system" ? "coffer" : c.actor_name;
  return `${who} ${deed.charAt(0).toLowerCase()}${deed.slice(1)}`;
}

/** Whether a summary names a rule. */
export const namesRule = (c: Pick<Change, "summary">) => /\brule \w/.test(c.summary);

const some = "(\\d+ transactions?(?: of .+?)?)";
const payments = (s: string) => s.replace("transaction", "payment");
const theRule = (name: string | undefined) => (name ? `the rule “${name}”` : "a rule");

/** Each form of the server's summaries with what people say for it. */
const forms: [RegExp, (names: Names, ...found: string[]) => string][] = [
  [/reverted: reverted: (.)/gi, (_, first = "") => `did again: ${first.toLowerCase()}`],
  [/reverted: (.)/gi, (_, first = "") => `undid: ${first.toLowerCase()}`],
  [
    new RegExp(`filed ${some} under ([a-z0-9_]+)`, "gi"),
    (names, n = "", slug = "") => `filed ${n} under ${names.category(slug)}`,
  ],
  [new RegExp(`removed the tag needs-review from ${some}`, "gi"), (_, n = "") => `reviewed ${n}`],
  [new RegExp(`tagged ${some} needs-review`, "gi"), (_, n = "") => `put ${n} up for review`],
  [new RegExp(`removed the tag ([a-z0-9:-]+) from ${some}`, "gi"), (_, tag = "", n = "") => `took #${tag} off ${n}`],
  [new RegExp(`tagged ${some} ([a-z0-9:-]+)`, "gi"), (_, n = "", tag = "") => `tagged ${n} #${tag}`],
  [
    new RegExp(`unlinked ${some} from (?:their counterparty|counterparty \\w+)`, "gi"),
    (_, n = "") => `took the payee off ${n}`,
  ],
  [new RegExp(`linked ${some} to counterparty \\w+`, "gi"), (_, n = "") => `named the payee of ${n}`],
  [/created counterparty \w+/gi, () => "added a payee"],
  [/merged counterparty \w+ into \w+/gi, () => "merged two payees"],
  [/(changed|deleted) counterparty \w+/gi, (_, did = "") => `${did} a payee`],
  [
    /merged category ([a-z0-9_]+) into ([a-z0-9_]+)/gi,
    (names, from = "", into = "") => `merged ${names.category(from)} into ${names.category(into)}`,
  ],
  [
    /(made|changed|deleted) category ([a-z0-9_]+)/gi,
    (names, did = "", slug = "") => `${did} the category ${names.category(slug)}`,
  ],
  [/(made|changed|deleted) tag ([a-z0-9:-]+)/gi, (_, did = "", slug = "") => `${did} the tag #${slug}`],
  [/(applied|made|changed|deleted) rule (\w+)/gi, (names, did = "", id = "") => `${did} ${theRule(names.rule(id))}`],
  [/\b(a finding(?: again)?|a recurring payment) [0-9A-Za-z]{8}\b/g, (_, what = "") => what],
  [/synced connection (\w+)/gi, (names, id = "") => `synced ${names.bank(id) ?? "a bank"}`],
];

function words(summary: string, names: Names): string {
  let s = summary;
  for (const [form, say] of forms) s = s.replace(form, (_, ...found: string[]) => say(names, ...found));
  return s.replace(/(\d+|a) transactions?/g, payments);
}
