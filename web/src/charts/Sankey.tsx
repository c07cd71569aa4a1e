import { sankeyLinkHorizontal } from "d3-sankey";
import type { Cents } from "#/lib/money";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { type FlowNode, layout, type Stream } from "./flow";

const labels = 164;
const cut = (s: string) => (s.length > 21 ? `${s.slice(0, 20)}…` : s);

/** Where money came from and went to. Every ribbon leads to its transactions. */
export function Sankey(p: {
  sources: Stream[];
  targets: Stream[];
  hub: string;
  say: (c: Cents) => string;
  brief: (c: Cents) => string;
  onOpen: (s: Stream) => void;
}) {
  const height = Math.max(260, 40 + Math.max(p.sources.length, p.targets.length) * 34);
  const path = sankeyLinkHorizontal();
  const rows = [...p.sources.map((s) => ["from", s] as const), ...p.targets.map((s) => ["to", s] as const)];
  return (
    <Frame
      words={`${p.hub}. ${p.targets
        .slice(0, 3)
        .map((t) => `${t.name} ${p.say(t.amount)}`)
        .join(", ")}.`}
      table={{ heads: ["What", "Amount"], rows: rows.map(([way, s]) => [`${way} ${s.name}`, p.say(s.amount)]) }}
    >
      {(width) => {
        const { nodes, links } = layout(p.sources, p.targets, width, height, labels);
        return (
          <svg width={width} height={height} role="group" aria-label="Where it went">
            {links.map((l) => {
              const open = l.stream.slug !== undefined;
              const ribbon = (
                <path
                  className={`${css.ribbon} ${l.stream.tone === undefined ? "" : `c${l.stream.tone}`}`}
                  d={path(l) ?? ""}
                  strokeWidth={Math.max(1, l.width ?? 1)}
                />
              );
              const key = `${(l.source as FlowNode).id} ${(l.target as FlowNode).id}`;
              if (!open) return <g key={key}>{ribbon}</g>;
              return (
                <a
                  key={key}
                  href="/transactions"
                  aria-label={`${l.stream.name}, ${p.say(l.stream.amount)}: its transactions`}
                  onClick={(e) => {
                    e.preventDefault();
                    p.onOpen(l.stream);
                  }}
                >
                  {ribbon}
                </a>
              );
            })}
            <g aria-hidden="true" pointerEvents="none">
              {nodes.map((n) => (
                <Place key={n.id} node={n} hub={p.hub} say={p.brief} />
              ))}
            </g>
          </svg>
        );
      }}
    </Frame>
  );
}

function Place({ node: n, hub, say }: { node: FlowNode; hub: string; say: (c: Cents) => string }) {
  const [x0, x1, y0, y1] = [n.x0 ?? 0, n.x1 ?? 0, n.y0 ?? 0, n.y1 ?? 0];
  const mid = (y0 + y1) / 2;
  const tone = n.stream?.tone;
  return (
    <g className={tone === undefined ? "" : `c${tone}`}>
      <rect
        className={n.side === "hub" ? css.hub : css.node}
        x={x0}
        y={y0}
        width={x1 - x0}
        height={Math.max(2, y1 - y0)}
        rx="2"
      />
      {n.side === "hub" && (
        <text className={css.strong} x={(x0 + x1) / 2} y={y0 - 8} textAnchor="middle">
          {hub}
        </text>
      )}
      {n.stream && n.side === "in" && (
        <text x={x0 - 8} y={mid} textAnchor="end">
          <tspan className={css.strong}>{cut(n.stream.name)}</tspan>
          <tspan x={x0 - 8} dy="1.25em">
            {say(n.stream.amount)}
          </tspan>
        </text>
      )}
      {n.stream && n.side === "out" && (
        <text x={x1 + 8} y={mid} dy=".35em">
          <tspan className={css.strong}>{cut(n.stream.name)}</tspan> {say(n.stream.amount)}
        </text>
      )}
    </g>
  );
}
