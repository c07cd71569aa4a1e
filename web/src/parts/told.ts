import { plural, t } from "@lingui/core/macro";
import type { Change } from "#/api/changes";
import { transactions } from "#/lib/words";

/** How people call what a summary names by its slug or its short id; nothing for what is gone. */
export type Names = {
  category: (slug: string) => string;
  rule: (id: string) => string | undefined;
  bank: (id: string) => string | undefined;
};

/**
 * Describes a change in one sentence and in the words of the screens. The server's summary names slugs, short ids,
 * transactions and their payee if they have one in common; a stranger may have written that name.
 */
export function told(c: Pick<Change, "summary" | "actor_type" | "actor_name" | "cause">, names: Names): string {
  // The summary is made lower-case before its words are translated: in German they may begin with a noun.
  const did = words(c.summary.charAt(0).toLowerCase() + c.summary.slice(1), names);
  if (c.actor_type === "system" && c.cause === "sync") return did.charAt(0).toUpperCase() + did.slice(1);
  const who = c.actor_type === "system" ? "coffer" : c.actor_name;
  return t`${who} ${did}`;
}

/** Whether a summary names a rule. */
export const namesRule = (c: Pick<Change, "summary">) => /\brule \w/.test(c.summary);

const some = "(\\d+ transactions?(?: of .+?)?)";
/** At the end of a clause: the payee is all that follows. */
const last = `${some}$`;
const did = "(made|created|changed|edited|deleted|applied)";

/** "2 transactions of Kiosk", as the server writes it, in the reader's words. */
function several(s: string): string {
  const [, count = "", payee] = /^(\d+) transactions?(?: of (.+))?$/.exec(s) ?? [];
  const n = Number(count);
  if (!payee) return transactions(n);
  return plural(n, { one: `# ${payee} transaction`, other: `# ${payee} transactions` });
}

/** The verb of a summary, old or new, as one of four. */
const verb = (s: string) => {
  const v = s.toLowerCase();
  if (v === "made" || v === "created") return "created";
  return v === "changed" || v === "edited" ? "edited" : v === "applied" ? "applied" : "deleted";
};

const rule = (v: string, name: string | undefined) => {
  const named = name !== undefined;
  switch (verb(v)) {
    case "created":
      return named ? t`created the rule “${name}”` : t`created a rule`;
    case "edited":
      return named ? t`edited the rule “${name}”` : t`edited a rule`;
    case "applied":
      return named ? t`applied the rule “${name}”` : t`applied a rule`;
    default:
      return named ? t`deleted the rule “${name}”` : t`deleted a rule`;
  }
};

const category = (v: string, name: string) => {
  if (verb(v) === "created") return t`created the category ${name}`;
  return verb(v) === "edited" ? t`edited the category ${name}` : t`deleted the category ${name}`;
};

const tagged = (v: string, tag: string) => {
  if (verb(v) === "created") return t`created the tag #${tag}`;
  return verb(v) === "edited" ? t`edited the tag #${tag}` : t`deleted the tag #${tag}`;
};

const payees = (v: string) => {
  if (verb(v) === "created") return t`created a payee`;
  return verb(v) === "edited" ? t`edited a payee` : t`deleted a payee`;
};

const budget = (v: string, name: string) => {
  if (/^(set|added)/i.test(v)) return t`added a ${name} budget`;
  return /^deleted/i.test(v) ? t`deleted the ${name} budget` : t`changed the ${name} budget`;
};

const alert = (v: string) => (/^dismissed/i.test(v) ? t`dismissed an alert` : t`reopened an alert`);

const approved = (n: string, m: string) =>
  parseInt(n, 10) === parseInt(m, 10)
    ? t`approved ${{ some: several(n) }}`
    : t`reviewed ${{ some: several(n) }}, and approved ${{ others: several(m) }}`;

/** Each form of the server's summaries with the words for it. Stored summaries keep the forms of older versions. */
const forms: [RegExp, (names: Names, ...found: string[]) => string][] = [
  [/reverted: reverted: (.)/gi, (_, first = "") => t`redid: ${{ change: first.toLowerCase() }}`],
  [/reverted: (.)/gi, (_, first = "") => t`undid: ${{ change: first.toLowerCase() }}`],
  [
    new RegExp(`(?:filed|categorized) ${some} (?:under|as) ([a-z0-9_]+)$`, "gi"),
    (names, n = "", slug = "") => t`categorized ${{ some: several(n) }} as ${{ category: names.category(slug) }}`,
  ],
  [
    new RegExp(`removed the tag needs-review from ${some}, (?:agreed to|approved) the category of ${last}`, "gi"),
    (_, n = "", m = "") => approved(n, m),
  ],
  [
    new RegExp(`(?:agreed to|approved) the category of ${last}`, "gi"),
    (_, n = "") => t`approved ${{ some: several(n) }}`,
  ],
  [new RegExp(`removed the tag needs-review from ${last}`, "gi"), (_, n = "") => t`reviewed ${{ some: several(n) }}`],
  [new RegExp(`tagged ${some} needs-review$`, "gi"), (_, n = "") => t`marked ${{ some: several(n) }} for review`],
  [
    new RegExp(`removed the tag ([a-z0-9:-]+) from ${last}`, "gi"),
    (_, tag = "", n = "") => t`removed #${tag} from ${{ some: several(n) }}`,
  ],
  [
    new RegExp(`tagged ${some} ([a-z0-9:-]+)$`, "gi"),
    (_, n = "", tag = "") => t`added #${tag} to ${{ some: several(n) }}`,
  ],
  [
    new RegExp(
      `(?:unlinked ${some} from (?:their counterparty|counterparty \\w+)|removed the counterparty of ${some}(?:, which was \\w+)?$|removed counterparty \\w+ from ${last})`,
      "gi",
    ),
    (_, old = "", now = "", newest = "") => t`removed the payee from ${{ some: several(old || now || newest) }}`,
  ],
  [
    new RegExp(`(?:linked ${some} to counterparty \\w+|set the counterparty of ${some} to \\w+)$`, "gi"),
    (_, old = "", now = "") => t`set the payee of ${{ some: several(old || now) }}`,
  ],
  [/merged counterparty \w+ into \w+/gi, () => t`merged two payees`],
  [new RegExp(`${did} counterparty \\w+`, "gi"), (_, v = "") => payees(v)],
  [
    /merged category ([a-z0-9_]+) into ([a-z0-9_]+)/gi,
    (names, from = "", into = "") => t`merged ${{ from: names.category(from) }} into ${{ into: names.category(into) }}`,
  ],
  [new RegExp(`${did} category ([a-z0-9_]+)`, "gi"), (names, v = "", slug = "") => category(v, names.category(slug))],
  [new RegExp(`${did} tag ([a-z0-9:-]+)`, "gi"), (_, v = "", slug = "") => tagged(v, slug)],
  [new RegExp(`${did} rule (\\w+)`, "gi"), (names, v = "", id = "") => rule(v, names.rule(id))],
  [
    /(?:made|created) (\d+) rules/gi,
    (_, n = "") => plural(Number(n), { one: "created # rule", other: "created # rules" }),
  ],
  [
    /(set|added|changed|deleted) (?:a monthly|the|a) (?:target|budget) for ([a-z0-9_]+)/gi,
    (names, v = "", slug = "") => budget(v, names.category(slug)),
  ],
  [/(dismissed|opened|reopened) a finding(?: again)?(?: [0-9A-Za-z]{8})?\b/gi, (_, v = "") => alert(v)],
  [/\b(a recurring payment) [0-9A-Za-z]{8}\b/g, (_, what = "") => what],
  [
    /synced connection (\w+)/gi,
    (names, id = "") => {
      const bank = names.bank(id);
      return bank ? t`synced ${bank}` : t`synced a bank`;
    },
  ],
];

/** What begins a clause of a summary after the first one. A payee can have a comma in its name. */
const next =
  /, (?=(?:and \d+ more|filed|categorized|cleared|agreed to|approved|(?:un)?linked|set the|removed (?:the|counterparty)|tagged|commented|joined|split|moved|changed|(?:un)?matched|parted|skipping|where others) )/;

/** The clauses of a summary that it knows a form of are put into the reader's words; the rest stays as it is. */
function words(summary: string, names: Names): string {
  const clauses: string[] = [];
  for (const clause of summary.split(next)) {
    const before = clauses.at(-1) ?? "";
    const one = /^(?:agreed to|approved) the category/.test(clause) && /removed the tag needs-review/i.test(before);
    if (one) clauses[clauses.length - 1] = `${before}, ${clause}`;
    else clauses.push(clause);
  }
  return clauses
    .map((clause) =>
      forms.reduce((s, [form, say]) => s.replace(form, (_, ...found: string[]) => say(names, ...found)), clause),
    )
    .join(", ");
}
