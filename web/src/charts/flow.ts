import { t } from "@lingui/core/macro";
import { type SankeyLink, type SankeyNode, sankey } from "d3-sankey";
import { type Cents, length } from "#/lib/money";
import type { Tone } from "#/lib/tones";

/** A place in the chart: money comes from it, passes through it or ends in it. */
export type Spot = { id: string; name: string; amount: Cents; side: "in" | "mid" | "out"; tone?: Tone };
export type Ribbon = { source: string; target: string; amount: Cents };
export type Flow = { spots: Spot[]; ribbons: Ribbon[] };

type Link = { ribbon: Ribbon; value: number };
export type FlowNode = SankeyNode<Spot, Link>;
export type FlowLink = SankeyLink<Spot, Link>;

const sum = (all: { amount: Cents }[]) => all.reduce((n, s) => n + s.amount, 0n);
const larger = (a: Spot, b: Spot) => (b.amount > a.amount ? 1 : b.amount < a.amount ? -1 : 0);

/** The places that are never folded and come last: money saved, and money drawn from savings. */
export const lasts: readonly string[] = ["saved", "drawn"];

/** The id of the place into which one side's small places are folded. */
export const folded = (side: "in" | "out") => `other:${side}`;

/** Folds the small places of a side into one: those below 2 % of the side, and those beyond the side's limit. */
export function fold(flow: Flow, limit: { in: number; out: number }): Flow {
  const becomes = new Map<string, string>();
  const spots = flow.spots.filter((s) => s.side === "mid" && s.amount > 0n).sort(larger);
  for (const side of ["in", "out"] as const) {
    const all = flow.spots.filter((s) => s.side === side && s.amount > 0n).sort(larger);
    const last = all.filter((s) => lasts.includes(s.id));
    const rest = all.filter((s) => !lasts.includes(s.id));
    const total = sum(all);
    const shown = rest.filter((s, i) => i < limit[side] && s.amount * 50n >= total);
    const thin = rest.slice(shown.length);
    spots.push(...shown);
    if (thin.length === 1) spots.push(...thin);
    const n = thin.length;
    if (n > 1) {
      for (const s of thin) becomes.set(s.id, folded(side));
      spots.push({ id: folded(side), name: t`Other (${n})`, amount: sum(thin), side, tone: 0 });
    }
    spots.push(...last);
  }
  const ribbons = new Map<string, Ribbon>();
  for (const r of flow.ribbons) {
    const source = becomes.get(r.source) ?? r.source;
    const target = becomes.get(r.target) ?? r.target;
    const key = `${source} ${target}`;
    ribbons.set(key, { source, target, amount: (ribbons.get(key)?.amount ?? 0n) + r.amount });
  }
  return { spots, ribbons: [...ribbons.values()].filter((r) => r.amount > 0n) };
}

/** Whether any money moves in a flow. */
export const moves = (flow: Flow): boolean => flow.ribbons.length > 0;

/**
 * The positions of all places in columns: sources, middle, destinations. The layout divides by the contents of a
 * column. So a side without places gets no column, and a flow without ribbons has no layout.
 */
export function layout(
  flow: Flow,
  width: number,
  height: number,
  labels: number,
): { nodes: FlowNode[]; links: FlowLink[] } {
  const ends = new Set(flow.ribbons.flatMap((r) => [r.source, r.target]));
  const spots = flow.spots.filter((s) => ends.has(s.id));
  const place = new Map(spots.map((s, i) => [s.id, i]));
  const sides = (["in", "mid", "out"] as const).filter((side) => spots.some((s) => s.side === side));
  const links = flow.ribbons
    .flatMap((ribbon) => {
      const [source, target] = [place.get(ribbon.source), place.get(ribbon.target)];
      return source === undefined || target === undefined ? [] : [{ source, target, ribbon }];
    })
    .sort((a, b) => a.source - b.source || a.target - b.target)
    .map((l) => ({ ...l, value: length(l.ribbon.amount) }));
  if (links.length === 0) return { nodes: [], links: [] };
  return sankey<Spot, Link>()
    .nodeWidth(9)
    .nodePadding(spots.filter((s) => s.side === "mid").length > 1 ? 24 : 18)
    .nodeAlign((n) => sides.indexOf((n as unknown as Spot).side))
    .nodeSort(null as never)
    .linkSort(null as never)
    .iterations(0)
    .extent([
      [labels, 24],
      [width - labels, height - 8],
    ])({ nodes: spots.map((s) => ({ ...s })), links });
}

/** The outline of a ribbon. Its height is the same everywhere, and ribbons side by side never cross. */
export function band(l: FlowLink): string {
  const [a, b] = [l.source as FlowNode, l.target as FlowNode];
  const half = Math.max(1, l.width ?? 1) / 2;
  const [x0, x1, y0, y1] = [a.x1 ?? 0, b.x0 ?? 0, l.y0 ?? 0, l.y1 ?? 0];
  const mid = (x0 + x1) / 2;
  const curve = (from: number, to: number, x: number) => `C${mid} ${from} ${mid} ${to} ${x} ${to}`;
  return `M${x0} ${y0 - half}${curve(y0 - half, y1 - half, x1)}L${x1} ${y1 + half}${curve(y1 + half, y0 + half, x0)}Z`;
}
