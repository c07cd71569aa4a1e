import { scaleBand, scaleLinear } from "d3-scale";
import { monthAbbr, monthName, shift } from "#/lib/dates";
import { type Cents, length } from "#/lib/money";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { steps } from "./steps";

const height = 168;
const box = { top: 8, bottom: 22, left: 44 };

/** The months of a year beside those of the year before. */
export function Pairs(p: {
  words: string;
  year: number;
  now: readonly Cents[];
  before: readonly Cents[];
  heads: [string, string, string];
  say: (c: Cents) => string;
  axis: (c: Cents) => string;
}) {
  const months = Array.from({ length: 12 }, (_, i) => shift(`${p.year}-01`, i));
  const at = (all: readonly Cents[], i: number) => all[i] ?? 0n;
  return (
    <Frame
      words={p.words}
      table={{
        heads: p.heads,
        rows: months.map((m, i) => [monthName(m), p.say(at(p.now, i)), p.say(at(p.before, i))]),
      }}
    >
      {(width) => {
        const all = [...p.now, ...p.before].map(length);
        const x = scaleBand(months, [box.left, width]).paddingInner(0.25).paddingOuter(0.1);
        const y = scaleLinear(
          [all.reduce((a, b) => Math.min(a, b), 0), all.reduce((a, b) => Math.max(a, b), 1)],
          [height - box.bottom, box.top],
        ).nice(3);
        const wide = x.bandwidth() / 2 - 1;
        const bar = (of: string | undefined, left: number, value: Cents) => (
          <rect
            className={of}
            x={left}
            width={wide}
            y={Math.min(y(length(value)), y(0))}
            height={Math.abs(y(0) - y(length(value)))}
            rx="2"
          />
        );
        return (
          <svg width={width} height={height} aria-hidden="true">
            {steps(
              y.ticks(3),
              all.every((n) => n === 0),
            ).map((n) => (
              <g key={n}>
                <line className={n ? css.grid : css.zero} x1={box.left} x2={width} y1={y(n)} y2={y(n)} />
                <text x={box.left - 8} y={y(n)} dy=".35em" textAnchor="end">
                  {p.axis(BigInt(Math.round(n)) * 100n)}
                </text>
              </g>
            ))}
            {months.map((m, i) => (
              <g key={m}>
                {bar(css.other, x(m) ?? 0, at(p.before, i))}
                {bar(css.stated, (x(m) ?? 0) + wide + 2, at(p.now, i))}
                <text x={(x(m) ?? 0) + x.bandwidth() / 2} y={height - 6} textAnchor="middle">
                  {width < 420 ? monthAbbr(m).slice(0, 1) : monthAbbr(m)}
                </text>
              </g>
            ))}
          </svg>
        );
      }}
    </Frame>
  );
}
