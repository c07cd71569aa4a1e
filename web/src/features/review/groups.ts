import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { CloseGroup, ReviewGroup } from "#/api/review";
import { type BulkBody, payee } from "#/api/transactions";
import { type Cents, cents } from "#/lib/money";
import type { Author } from "#/ui/AuthorBadge";

/** A suggested category for a payee, its author, and how often such suggestions were right. */
export type Suggestion = { category: string; author: Author | null; record: string };

/** The transactions of one payee that need review. */
export type Group = ReviewGroup & {
  key: string;
  /** How many transactions can be closed now. Pending ones cannot until they post. */
  ready: number;
  sums: { currency: string; total: Cents }[];
  /** The category that Approve gives the transactions; null if each keeps its own. */
  files: Suggestion | null;
  /** The categories that a person could choose instead. Each has a number key. */
  others: string[];
  /** Whether the transactions are ready to approve. */
  sure: boolean;
  /**
   * Whether there are only a few transactions, all with the bank's category. They can be approved together with similar
   * groups.
   */
  small: boolean;
  /** Whether there is no category to approve. */
  open: boolean;
};

const limit = 9;
const few = 2; // a group with at most this many transactions is small

const authors: Record<string, Author> = {
  rule: { kind: "rule" },
  agent: { kind: "agent" },
  user: { kind: "person" },
  provider: { kind: "bank" },
};

const sources: Record<string, MessageDescriptor> = {
  provider: msg`From the bank`,
  rule: msg`Set by a rule`,
  agent: msg`Set by an agent`,
  user: msg`Set by a person`,
};

/** The categories of a group with their counts, the most frequent first. */
export function filedUnder(g: ReviewGroup): { category: string | null; count: number }[] {
  const counts = new Map<string | null, number>();
  for (const c of g.categories) counts.set(c.category, (counts.get(c.category) ?? 0) + c.count);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([category, count]) => ({ category, count }));
}

/** How many different categories a group has. Uncategorized counts as one. */
const categoryCount = (g: ReviewGroup) => new Set(g.categories.map((c) => c.category)).size;

/** Whether a group is money in. Likely categories for money in differ from those for money out. */
const comesIn = (g: ReviewGroup) => g.amounts.every((a) => cents(a.total) < 0n);

/**
 * The categories of the other payees, the most frequent first. They are likely for a payee without a suggestion, too.
 */
export function likely(groups: ReviewGroup[], incoming: boolean): string[] {
  const counts = new Map<string, number>();
  for (const g of groups.filter((x) => comesIn(x) === incoming)) {
    const of = new Set([...(g.suggestion ? [g.suggestion.category] : g.categories.map((c) => c.category))]);
    for (const c of of) if (c) counts.set(c, (counts.get(c) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([c]) => c);
}

export function groupOf(g: ReviewGroup, often: string[] = []): Group {
  const present = g.categories.filter((c) => c.category !== null);
  const one = categoryCount(g) === 1 ? present[0] : undefined;
  const files = suggestionOf(g, one);
  const known = [...present.map((c) => c.category as string), ...(g.suggestion ? [g.suggestion.category] : [])];
  const sure = files !== null && g.pending < g.count && (g.suggestion != null || one?.source !== "provider");
  return {
    ...g,
    payee_name: payee(g),
    key: g.counterparty_id ?? g.payee,
    ready: g.count - g.pending,
    sums: g.amounts.map((a) => ({ currency: a.iso_currency_code, total: cents(a.total) })),
    files,
    others: [...new Set([...known, ...(sure ? [] : often)])].filter((c) => c !== files?.category).slice(0, limit),
    sure,
    small: !sure && files !== null && g.pending < g.count && g.count <= few,
    open: files === null && present.length === 0,
  };
}

function suggestionOf(g: ReviewGroup, one: ReviewGroup["categories"][number] | undefined): Suggestion | null {
  const s = g.suggestion;
  if (s) {
    const { category, agree } = s;
    if (s.basis === "person") {
      const record = plural(s.of, {
        one: `People chose this ${agree} of # time`,
        other: `People chose this ${agree} of # times`,
      });
      return { category, author: { kind: "person" }, record };
    }
    if (s.basis === "history") {
      const record = plural(s.of, {
        one: `Rules and agents: ${agree} of # time`,
        other: `Rules and agents: ${agree} of # times`,
      });
      return { category, author: { kind: "rule" }, record };
    }
    return { category, author: null, record: t`Usual for this payee` };
  }
  if (!one?.category) return null;
  const source = i18n._(sources[one.source ?? ""] ?? msg`Current category`);
  const record = `${source} · ${t`first time`}`;
  return { category: one.category, author: authors[one.source ?? ""] ?? null, record };
}

/** Where the suggested category comes from, in words. */
export function reasonOf(g: Group): string {
  if (g.files) return g.files.record;
  if (g.open) return t`No suggestion yet`;
  const count = categoryCount(g);
  return count === 2
    ? t`Approving keeps both categories`
    : plural({ ways: count }, { one: "Approving keeps the category", other: "Approving keeps all # categories" });
}

/** The category to set when a group is closed; undefined if all its transactions have it already. */
function filing(g: Group, category?: string): string | undefined {
  const to = category ?? g.files?.category;
  return g.categories.every((c) => c.category === to) ? undefined : to;
}

/** The request to close several groups in one change. */
export function closingAll(groups: Group[]): CloseGroup[] {
  return groups.map((g) => {
    const to = filing(g);
    return {
      ...(g.counterparty_id ? { counterparty_id: g.counterparty_id } : { payee: g.payee }),
      ...(to ? { category: to } : {}),
      expect: g.ready,
    };
  });
}

/** The payee whose transactions changed, so that the server closed nothing. */
export function refused(groups: Group[], details: readonly { field?: string }[]): string {
  const at = groups.length === 1 ? 0 : /^groups\[(\d+)\]/.exec(details[0]?.field ?? "")?.[1];
  return (at !== undefined && groups[Number(at)]?.payee_name) || t`A payee`;
}

/** The request to close one group: it sets the category if that changes, and removes the group from the review. */
export function closing(g: Group, category?: string): BulkBody {
  const to = filing(g, category);
  return {
    filter: {
      tags: ["needs-review"],
      excluded: false,
      ...(g.counterparty_id ? { counterparty_id: g.counterparty_id } : { payee: g.payee, counterparty_id: "none" }),
    },
    set: { tags_to_remove: ["needs-review"], ...(to ? { category: to } : {}) },
    expect: g.ready,
  };
}

/**
 * Sure groups first, then the others, and small ones last. Within each part, the server's order stays: the largest
 * first. If nothing else is known about a group, it offers the categories first that a person has just picked.
 */
export function inOrder(groups: ReviewGroup[], picked: string[] = []): Group[] {
  const often = new Map([true, false].map((incoming) => [incoming, likely(groups, incoming)]));
  const all = groups.map((g) => {
    const usual = often.get(comesIn(g)) ?? [];
    return groupOf(g, [...picked.filter((c) => usual.includes(c)), ...usual]);
  });
  return [...all.filter((g) => g.sure), ...all.filter((g) => !g.sure && !g.small), ...all.filter((g) => g.small)];
}
