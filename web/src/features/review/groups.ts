import type { ReviewGroup } from "#/api/review";
import type { BulkBody } from "#/api/transactions";
import { type Cents, cents } from "#/lib/money";
import type { Maker } from "#/ui/Seal";

/** What to do with the payments of one payee, who says so, and how often they were right. */
export type Suggestion = { category: string; maker: Maker | null; record: string };

/** Payments of one payee that wait. */
export type Group = ReviewGroup & {
  key: string;
  /** How many can be closed now; pending ones wait until they are booked. */
  ready: number;
  sums: { currency: string; total: Cents }[];
  /** What agreeing files them under; null if they stay as they are, each with its own. */
  files: Suggestion | null;
  /** The categories that they could have instead, one key each. */
  others: string[];
  /** Whether a look is enough. */
  sure: boolean;
  /** Whether there is anything to agree to. */
  open: boolean;
};

const most = 9;

const makers: Record<string, Maker> = {
  rule: { kind: "rule" },
  agent: { kind: "agent" },
  user: { kind: "person" },
  provider: { kind: "bank" },
};

const says: Record<string, string> = {
  provider: "by the bank",
  rule: "by a rule",
  agent: "by an agent",
  user: "by a person",
};

/** What they are filed under, most first, whoever filed them. */
export function filedUnder(g: ReviewGroup): { category: string | null; count: number }[] {
  const counts = new Map<string | null, number>();
  for (const c of g.categories) counts.set(c.category, (counts.get(c.category) ?? 0) + c.count);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([category, count]) => ({ category, count }));
}

/** In how many ways they are filed. */
const waysOf = (g: ReviewGroup) => new Set(g.categories.map((c) => c.category)).size;

/** Whether it is money in: then other categories are likely than for money out. */
const comesIn = (g: ReviewGroup) => g.amounts.every((a) => cents(a.total) < 0n);

/** What other payees of the inbox are filed under, most first: likely also for one that nobody knows. */
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
  const one = waysOf(g) === 1 ? present[0] : undefined;
  const files = suggestionOf(g, one);
  const known = [...present.map((c) => c.category as string), ...(g.suggestion ? [g.suggestion.category] : [])];
  const sure = files !== null && g.pending < g.count && (g.suggestion != null || one?.source !== "provider");
  return {
    ...g,
    key: g.counterparty_id ?? g.payee,
    ready: g.count - g.pending,
    sums: g.amounts.map((a) => ({ currency: a.iso_currency_code, total: cents(a.total) })),
    files,
    others: [...new Set([...known, ...(sure ? [] : often)])].filter((c) => c !== files?.category).slice(0, most),
    sure,
    open: files === null && present.length === 0,
  };
}

function suggestionOf(g: ReviewGroup, one: ReviewGroup["categories"][number] | undefined): Suggestion | null {
  const s = g.suggestion;
  if (s) {
    const times = `${s.agree} of ${s.of}`;
    if (s.basis === "person")
      return { category: s.category, maker: { kind: "person" }, record: `people: ${times} times` };
    if (s.basis === "history")
      return { category: s.category, maker: { kind: "rule" }, record: `rules, agents: ${times} times` };
    return { category: s.category, maker: null, record: "usual for this payee" };
  }
  if (!one?.category) return null;
  const who = says[one.source ?? ""] ?? "already so";
  return { category: one.category, maker: makers[one.source ?? ""] ?? null, record: `${who} · first time` };
}

/** Who says what they should be, in words. */
export function reasonOf(g: Group): string {
  if (g.files) return g.files.record;
  if (g.open) return "The bank gave none, and no rule matched";
  const ways = waysOf(g);
  return `Agree keeps ${ways === 2 ? "both" : `all ${ways}`}`;
}

/** The change that closes a group: what it is filed under, if that is to change, and no longer to review. */
export function closing(g: Group, category?: string): BulkBody {
  const to = category ?? g.files?.category;
  const already = g.categories.every((c) => c.category === to);
  return {
    filter: {
      tags: ["needs-review"],
      excluded: false,
      ...(g.counterparty_id ? { counterparty_id: g.counterparty_id } : { payee: g.payee, counterparty_id: "none" }),
    },
    set: { tags_to_remove: ["needs-review"], ...(to && !already ? { category: to } : {}) },
    expect: g.ready,
  };
}

/**
 * Sure ones first; within each part as they came, the largest first. What was just picked for others is
 * offered first where nothing else is known.
 */
export function inOrder(groups: ReviewGroup[], picked: string[] = []): Group[] {
  const often = new Map([true, false].map((incoming) => [incoming, likely(groups, incoming)]));
  const all = groups.map((g) => {
    const usual = often.get(comesIn(g)) ?? [];
    return groupOf(g, [...picked.filter((c) => usual.includes(c)), ...usual]);
  });
  return [...all.filter((g) => g.sure), ...all.filter((g) => !g.sure)];
}
