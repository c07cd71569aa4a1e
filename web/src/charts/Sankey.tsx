import { t } from "@lingui/core/macro";
import type { MouseEvent, ReactNode } from "react";
import type { Cents } from "#/lib/money";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { band, type Flow, type FlowLink, type FlowNode, layout, type Spot } from "./flow";

const labels = 164;
const cut = (s: string) => (s.length > 21 ? `${s.slice(0, 20)}…` : s);

/** A link's address, and the function that opens it without reloading the page. */
export type Way = { href: string; go: () => void };

type Props = {
  flow: Flow;
  say: (c: Cents) => string;
  brief: (c: Cents) => string;
  /** The label of the middle, if the middle is a single place. */
  hub: string;
  /** The link to the transactions of a place, or of one of its ribbons through a place in the middle. */
  way: (s: Spot, through?: Spot) => Way | undefined;
};

/** A chart of where money came from and went to. Every ribbon and every name links to its transactions. */
export function Sankey(p: Props) {
  const outer = p.flow.spots.filter((s) => s.side !== "mid");
  const mids = p.flow.spots.length - outer.length;
  const rows = (side: Spot["side"]) => outer.filter((s) => s.side === side).length;
  const height = Math.max(260, 40 + Math.max(rows("in"), rows("out"), mids) * 34);
  return (
    <Frame
      words={`${p.hub}. ${outer
        .filter((s) => s.side === "out")
        .slice(0, 3)
        .map((s) => `${s.name} ${p.say(s.amount)}`)
        .join(", ")}.`}
      table={{
        heads: [t`From / to`, t`Amount`],
        rows: outer.map(({ side, name, amount }) => [side === "in" ? t`From ${name}` : t`To ${name}`, p.say(amount)]),
      }}
    >
      {(width) => {
        const { nodes, links } = layout(p.flow, width, height, labels);
        return (
          <svg width={width} height={height} role="group" aria-label={t`Where your money went`}>
            {nodes.map((n) => (
              <Place key={n.id} node={n} links={links} one={mids === 1} props={p} />
            ))}
          </svg>
        );
      }}
    </Frame>
  );
}

const ends = (l: FlowLink) => [l.source as FlowNode, l.target as FlowNode] as const;

/**
 * A place with its name, and the ribbons between it and the middle. If there is only one ribbon, it shares a link with
 * the name.
 */
function Place({ node: n, links, one, props: p }: { node: FlowNode; links: FlowLink[]; one: boolean; props: Props }) {
  const ownLinks = n.side === "mid" ? [] : links.filter((l) => ends(l).includes(n));
  const tone = n.tone === undefined ? "" : `c${n.tone}`;
  const ribbon = (l: FlowLink) => (
    <path key={`${l.ribbon.source} ${l.ribbon.target}`} className={css.ribbon} d={band(l)} />
  );
  const link = p.way(n);
  const label = <Label node={n} one={one} hub={p.hub} brief={p.brief} />;
  if (ownLinks.length < 2)
    return (
      <g className={tone}>
        <Way way={link}>
          {ownLinks.map(ribbon)}
          {label}
        </Way>
      </g>
    );
  return (
    <g className={tone}>
      {ownLinks.map((l) => {
        const through = ends(l).find((e) => e.side === "mid");
        return (
          <Way
            key={`${l.ribbon.source} ${l.ribbon.target}`}
            way={p.way(n, through)}
            label={`${n.name}, ${through?.name ?? ""}, ${p.say(l.ribbon.amount)}`}
          >
            {ribbon(l)}
          </Way>
        );
      })}
      <Way way={link}>{label}</Way>
    </g>
  );
}

/** A link. If it contains no text, it needs a label. */
function Way({ way, label, children }: { way?: Way; label?: string; children: ReactNode }) {
  if (!way) return <g>{children}</g>;
  const go = (e: MouseEvent) => {
    if (e.metaKey || e.ctrlKey || e.shiftKey) return;
    e.preventDefault();
    way.go();
  };
  return (
    <a href={way.href} aria-label={label} onClick={go}>
      {children}
    </a>
  );
}

function Label({ node: n, one, hub, brief }: { node: FlowNode; one: boolean; hub: string; brief: Props["brief"] }) {
  const [x0, x1, y0, y1] = [n.x0 ?? 0, n.x1 ?? 0, n.y0 ?? 0, n.y1 ?? 0];
  const mid = (y0 + y1) / 2;
  const height = Math.max(2, y1 - y0);
  return (
    <>
      <rect className={n.side === "mid" ? css.hub : css.node} x={x0} y={y0} width={x1 - x0} height={height} rx="2" />
      {n.side === "mid" && (
        <text className={css.over} x={(x0 + x1) / 2} y={y0 - 8} textAnchor="middle">
          {one ? hub : `${cut(n.name)} ${brief(n.amount)}`}
        </text>
      )}
      {n.side === "in" && (
        <text x={x0 - 8} y={mid} textAnchor="end">
          <tspan className={css.strong}>{cut(n.name)}</tspan>
          <tspan x={x0 - 8} dy="1.25em">
            {brief(n.amount)}
          </tspan>
        </text>
      )}
      {n.side === "out" && (
        <text x={x1 + 8} y={mid} dy=".35em">
          <tspan className={css.strong}>{cut(n.name)}</tspan> {brief(n.amount)}
        </text>
      )}
    </>
  );
}
