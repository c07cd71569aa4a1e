import { t } from "@lingui/core/macro";
import { scaleLinear } from "d3-scale";
import { number, percent } from "#/lib/words";
import css from "./Chart.module.css";
import { Frame } from "./Frame";

const row = 44;
const foot = 20;

/** A share of correct decisions in percent, with its 95 % range from `low` to `high`. */
export type Share = { percent: number; low: number; high: number };

/** A decider, such as a workflow or a method without a model, and how often it was correct. */
export type Decider = {
  name: string;
  /** Whether the chart is about this decider. */
  own?: boolean;
  /** null if it made no decision. */
  right: Share | null;
  /** The percentage of transactions that it decided. */
  decided: number;
};

export { percent };

/** A sentence for screen readers about how often a decider was correct. */
function wordsOf({ name, right, decided }: Decider): string {
  if (!right) return t`${name}: no decisions`;
  const [correct, low, high, of] = [percent(right.percent), number(right.low), percent(right.high), percent(decided)];
  return t`${name}: ${correct} correct (95% range ${low}–${high}) on ${of} of transactions`;
}

/** One line for each decider: a point for its share of correct decisions, on a bar for the range that chance allows. */
export function Shares(p: { label: string; deciders: Decider[]; table: { heads: string[]; rows: string[][] } }) {
  const words = [p.label, ...p.deciders.map(wordsOf)];
  const height = p.deciders.length * row + foot;
  return (
    <Frame words={`${words.join(". ")}.`} table={p.table}>
      {(width) => {
        const x = scaleLinear([0, 100], [4, Math.max(4, width - 4)]);
        return (
          <svg width={width} height={height} role="img" aria-label={p.label}>
            {[0, 25, 50, 75, 100].map((n) => (
              <g key={n}>
                <line className={n ? css.grid : css.zero} x1={x(n)} x2={x(n)} y1={20} y2={height - foot} />
                <text x={x(n)} y={height - 4} textAnchor={n === 0 ? "start" : n === 100 ? "end" : "middle"}>
                  {percent(n)}
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
                    {d.right
                      ? t`${{ correct: percent(d.right.percent) }} correct on ${{ of: percent(d.decided) }}`
                      : t`no decisions`}
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
