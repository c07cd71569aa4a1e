import { scaleLinear } from "d3-scale";
import css from "./Chart.module.css";
import { Frame } from "./Frame";

const row = 44;
const foot = 20;

/** How often somebody was right, of a hundred, with what it may really be. */
export type Share = { percent: number; low: number; high: number };

/** Somebody who decided, and how well. */
export type Decider = {
  name: string;
  /** The one that the chart is about. */
  own?: boolean;
  /** null if they decided nothing. */
  right: Share | null;
  /** Of a hundred, how many they decided. */
  decided: number;
};

/** 92.5 → "92.5 %", 92 → "92 %" */
export const percent = (n: number) => `${n.toLocaleString("en")} %`;

const between = (s: Share) => `${s.low.toLocaleString("en")} to ${percent(s.high)}`;

/** Several deciders on one line each: a point for how often they were right, on the span that chance allows. */
export function Shares(p: { label: string; deciders: Decider[]; table: { heads: string[]; rows: string[][] } }) {
  const words = p.deciders.map((d) =>
    d.right
      ? `${d.name}: right ${percent(d.right.percent)}, between ${between(d.right)}, of the ${percent(d.decided)} decided`
      : `${d.name}: decided nothing`,
  );
  const height = p.deciders.length * row + foot;
  return (
    <Frame words={`${p.label}. ${words.join(". ")}.`} table={p.table}>
      {(width) => {
        const x = scaleLinear([0, 100], [4, Math.max(4, width - 4)]);
        return (
          <svg width={width} height={height} role="img" aria-label={p.label}>
            {[0, 25, 50, 75, 100].map((t) => (
              <g key={t}>
                <line className={t ? css.grid : css.zero} x1={x(t)} x2={x(t)} y1={20} y2={height - foot} />
                <text x={x(t)} y={height - 4} textAnchor={t === 0 ? "start" : t === 100 ? "end" : "middle"}>
                  {percent(t)}
                </text>
              </g>
            ))}
            {p.deciders.map((d, i) => {
              const y = i * row + 30;
              return (
                <g key={d.name}>
                  <text className={css.over} x={4} y={y - 14}>
                    {d.name}
                  </text>
                  <text className={css.over} x={width - 4} y={y - 14} textAnchor="end">
                    {d.right ? `${percent(d.right.percent)} right of ${percent(d.decided)}` : "decided nothing"}
                  </text>
                  {d.right && (
                    <>
                      <rect
                        className={d.own ? css.span : css.other}
                        x={x(d.right.low)}
                        y={y - 4}
                        width={Math.max(2, x(d.right.high) - x(d.right.low))}
                        height={8}
                        rx="4"
                      />
                      <circle
                        className={d.own ? css.dot : css.point}
                        cx={x(d.right.percent)}
                        cy={y}
                        r={d.own ? 5 : 4}
                      />
                    </>
                  )}
                </g>
              );
            })}
          </svg>
        );
      }}
    </Frame>
  );
}
