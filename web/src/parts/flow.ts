import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { useNavigate, useRouter } from "@tanstack/react-router";
import type { CashflowCurrency, CashflowNode } from "#/api/cashflow";
import { type Flow, folded, type Spot } from "#/charts/flow";
import type { Way } from "#/charts/Sankey";
import type { TransactionsSearch } from "#/lib/address";
import { cents } from "#/lib/money";
import type { Tone } from "#/lib/tones";

const names: Partial<Record<CashflowNode["kind"], MessageDescriptor>> = {
  saved: msg({ message: "Saved", context: "money that is not spent" }),
  drawn: msg`From savings`,
};
const sideOf = { income: "in", drawn: "in", account: "mid", category: "out", saved: "out" } as const;

/** The name of a node as screens show it. */
export function nodeName(n: CashflowNode): string {
  const name = names[n.kind];
  if (name) return i18n._(name);
  return n.id.startsWith("uncategorized") ? t`Uncategorized` : n.name;
}

/**
 * The flow of one currency, ready to draw. All income is one category, so it is split by kind,
 * such as salary, if all kinds are positive and the middle of the chart is a single place, not
 * several accounts.
 */
export function flowOf(c: CashflowCurrency, tone: (slug: string) => Tone): Flow {
  const spots: Spot[] = [];
  const parts = new Map<string, { id: string; amount: bigint }[]>();
  const hubs = c.nodes.filter((n) => n.kind === "account");
  for (const n of c.nodes) {
    const side = sideOf[n.kind];
    const split = n.kind === "income" && hubs.length === 1 && (n.parts?.every((p) => p.amount > 0) ?? false);
    if (split && n.parts && n.parts.length > 1) {
      for (const p of n.parts) spots.push({ id: `${n.id}/${p.category}`, name: p.name, amount: cents(p.amount), side });
      parts.set(
        n.id,
        n.parts.map((p) => ({ id: `${n.id}/${p.category}`, amount: cents(p.amount) })),
      );
      continue;
    }
    const only = split ? n.parts?.[0]?.name : undefined;
    const color = side === "out" && n.kind !== "saved" ? tone(n.category ?? "") : n.kind === "drawn" ? 0 : undefined;
    spots.push({
      id: n.id,
      name: only ?? nodeName(n),
      amount: cents(n.amount),
      side,
      ...(color !== undefined && { tone: color }),
    });
  }
  const ribbons = c.links.flatMap((l) => {
    const shares = parts.get(l.source);
    if (!shares) return [{ source: l.source, target: l.target, amount: cents(l.amount) }];
    return shares.map((s) => ({ source: s.id, target: l.target, amount: s.amount }));
  });
  return { spots, ribbons };
}

/** The sum of the left side of a flow, whether some of it is from savings, and the refunds deducted from spending. */
export function middleOf(flow: Flow, moneyIn: bigint) {
  let [all, saved] = [0n, 0n];
  for (const s of flow.spots) {
    if (s.side !== "in") continue;
    all += s.amount;
    if (s.id === "drawn") saved += s.amount;
  }
  const refunds = moneyIn - (all - saved);
  return { all, saved: saved > 0n, refunds: refunds > 0n ? refunds : 0n };
}

/** The label of the middle: the amount that flows through it. */
export const middleWord = (m: { saved: boolean }, amount: string) =>
  m.saved ? t`Money in and from savings ${amount}` : t`Money in ${amount}`;

/** The reason why the label is less than the money that came in. */
export const refundsWord = (amount: string) => t`Refunds of ${amount} are deducted from spending.`;

/** The search for a node's transactions; undefined for a node that is only a difference, such as savings. */
export function searchOf(id: string, accounts: ReadonlyMap<string, string>): TransactionsSearch | undefined {
  const [node, part] = id.split("/");
  if (part) return { category: part };
  const account = accounts.get(id);
  if (account) return { account };
  if (id === "all") return {};
  if (id === folded("in")) return { direction: "in" };
  if (id === folded("out")) return { direction: "out" };
  const at = (node ?? "").split(":");
  if (at[0] === "uncategorized") return { uncategorized: true, direction: at[1] === "income" ? "in" : "out" };
  return at[1] ? { category: at[1] } : undefined;
}

/** Returns a function that links a place in the chart to its transactions of the given days. */
export function useWay(days: { from: string; to: string }, accounts: ReadonlyMap<string, string> = new Map()) {
  const go = useNavigate();
  const router = useRouter();
  return (s: { id: string }, through?: { id: string }): Way | undefined => {
    const found = searchOf(s.id, accounts);
    if (!found) return undefined;
    const account = through && accounts.get(through.id);
    const search = { ...days, ...found, ...(account && { account }) };
    return {
      href: router.buildLocation({ to: "/transactions", search }).href,
      go: () => void go({ to: "/transactions", search }),
    };
  };
}
