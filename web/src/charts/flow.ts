import { type SankeyLink, type SankeyNode, sankey } from "d3-sankey";
import { type Cents, length } from "#/lib/money";
import type { Tone } from "#/lib/tones";

/** One source or one destination of a month's money. */
export type Stream = { id: string; name: string; amount: Cents; tone?: Tone; slug?: string };
type Node = { id: string; stream: Stream | null; side: "in" | "hub" | "out" };
type Link = { stream: Stream; value: number };
export type FlowNode = SankeyNode<Node, Link>;
export type FlowLink = SankeyLink<Node, Link>;

const sum = (all: Stream[]) => all.reduce((n, s) => n + s.amount, 0n);

/** Folds what is less than 2 % of the whole, or past the first so many, into one stream. */
export function fold(streams: Stream[], most: number): Stream[] {
  const total = sum(streams);
  const sorted = streams.filter((s) => s.amount > 0n).sort((a, b) => (b.amount > a.amount ? 1 : -1));
  const kept = sorted.filter((s, i) => i < most && s.amount * 50n >= total);
  const rest = sorted.slice(kept.length);
  if (rest.length < 2) return sorted.slice(0, kept.length + rest.length);
  return [...kept, { id: "other", name: `Other, ${rest.length} smaller`, amount: sum(rest), tone: 0 }];
}

/** Adds what is left over, or what was drawn from savings, so that both sides are equal. */
export function balance(sources: Stream[], targets: Stream[]): { sources: Stream[]; targets: Stream[] } {
  const over = sum(sources) - sum(targets);
  if (over > 0n) return { sources, targets: [...targets, { id: "left", name: "Left over", amount: over }] };
  if (over < 0n)
    return { sources: [...sources, { id: "drawn", name: "From savings", amount: -over, tone: 0 }], targets };
  return { sources, targets };
}

/** Where everything stands: sources, one hub, destinations. */
export function layout(sources: Stream[], targets: Stream[], width: number, height: number, labels: number) {
  const nodes: Node[] = [
    ...sources.map((stream): Node => ({ id: `in ${stream.id}`, stream, side: "in" })),
    { id: "hub", stream: null, side: "hub" },
    ...targets.map((stream): Node => ({ id: `out ${stream.id}`, stream, side: "out" })),
  ];
  const hub = sources.length;
  const links = [
    ...sources.map((stream, i) => ({ source: i, target: hub, value: length(stream.amount), stream })),
    ...targets.map((stream, i) => ({ source: hub, target: hub + 1 + i, value: length(stream.amount), stream })),
  ];
  return sankey<Node, Link>()
    .nodeWidth(9)
    .nodePadding(18)
    .nodeSort(null as never)
    .linkSort(null as never)
    .iterations(0)
    .extent([
      [labels, 24],
      [width - labels, height - 8],
    ])({ nodes, links });
}
