import { plural, t } from "@lingui/core/macro";
import { scaleBand, scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { monthAbbr, monthName } from "#/lib/dates";
import { type Cents, length } from "#/lib/money";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { steps } from "./steps";

export type MonthSum = { month: string; in: Cents; out: Cents };

const height = 216;
const box = { top: 8, bottom: 24, left: 48 };
const narrow = 460; // below this width, only half of the months are drawn

/** Money in above the line and money out below it, by month, with the net. */
export function Months(p: {
  months: MonthSum[];
  chosen: string;
  onChoose: (month: string) => void;
  say: (c: Cents) => string;
  axis: (c: Cents) => string;
}) {
  const rows = p.months.map((m) => [monthName(m.month), p.say(m.in), p.say(m.out), p.say(m.in - m.out)]);
  const last = monthName(p.months.at(-1)?.month ?? p.chosen);
  return (
    <Frame
      words={plural(p.months.length, {
        one: `Money in and out for # month through ${last}.`,
        other: `Money in and out for # months through ${last}.`,
      })}
      table={{ heads: [t`Month`, t`Money in`, t`Money out`, t`Net`], rows }}
    >
      {(width) => {
        const shown = width < narrow ? p.months.slice(-7) : p.months;
        // Months before the first transaction are unknown. Drawing them as zero would be wrong.
        const began = shown.findIndex((m) => m.in !== 0n || m.out !== 0n);
        const known = began < 0 ? [] : shown.slice(began);
        const top = shown.flatMap((m) => [length(m.in), length(m.out)]).reduce((a, b) => Math.max(a, b), 1);
        const x = scaleBand(
          shown.map((m) => m.month),
          [box.left, width],
        );
        const y = scaleLinear([-top, top], [height - box.bottom, box.top]).nice(4);
        const bar = Math.min(18, x.bandwidth() * 0.42);
        const mid = (m: MonthSum) => (x(m.month) ?? 0) + x.bandwidth() / 2;
        const left = line<MonthSum>()
          .x(mid)
          .y((m) => y(length(m.in - m.out)));
        return (
          <svg width={width} height={height} role="group" aria-label={t`Select a month`}>
            {shown
              .filter((m) => m.month === p.chosen)
              .map((m) => (
                <rect
                  key={m.month}
                  className={css.chosen}
                  x={x(m.month)}
                  y={box.top}
                  width={x.bandwidth()}
                  height={height - box.top}
                  rx="6"
                />
              ))}
            {steps(y.ticks(4), known.length === 0).map((n) => (
              <g key={n} aria-hidden="true">
                <line className={n ? css.grid : css.zero} x1={box.left} x2={width} y1={y(n)} y2={y(n)} />
                <text x={box.left - 8} y={y(n)} dy=".35em" textAnchor="end">
                  {p.axis(BigInt(Math.round(n)) * 100n)}
                </text>
              </g>
            ))}
            {shown.map((m) => (
              <g
                key={m.month}
                className={css.mark}
                role="button"
                tabIndex={0}
                aria-pressed={m.month === p.chosen}
                aria-label={t`${{ month: monthName(m.month) }}: money in ${{ moneyIn: p.say(m.in) }}, money out ${{ moneyOut: p.say(m.out) }}, net ${{ net: p.say(m.in - m.out) }}`}
                onClick={() => p.onChoose(m.month)}
                onKeyDown={(e) => {
                  if (e.key !== "Enter" && e.key !== " ") return;
                  e.preventDefault();
                  p.onChoose(m.month);
                }}
              >
                <rect
                  className={css.wide}
                  x={x(m.month)}
                  y={box.top}
                  width={x.bandwidth()}
                  height={height - box.top}
                  rx="6"
                  opacity={0.5}
                />
                <rect
                  className={css.in}
                  x={mid(m) - bar / 2}
                  width={bar}
                  y={y(length(m.in))}
                  height={y(0) - y(length(m.in))}
                  rx="2"
                />
                <rect
                  className={css.out}
                  x={mid(m) - bar / 2}
                  width={bar}
                  y={y(0) + 1}
                  height={Math.max(0, y(-length(m.out)) - y(0) - 1)}
                  rx="2"
                />
              </g>
            ))}
            <g aria-hidden="true" pointerEvents="none">
              <path className={css.left} d={left(known) ?? ""} />
              {shown.map((m) => (
                <text
                  key={m.month}
                  className={m.month === p.chosen ? css.strong : ""}
                  x={mid(m)}
                  y={height - 6}
                  textAnchor="middle"
                >
                  {monthAbbr(m.month)}
                </text>
              ))}
              {known.map((m) => (
                <circle key={m.month} className={css.point} cx={mid(m)} cy={y(length(m.in - m.out))} r="2.5" />
              ))}
            </g>
          </svg>
        );
      }}
    </Frame>
  );
}
