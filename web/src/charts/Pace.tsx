import { t } from "@lingui/core/macro";
import { scaleLinear } from "d3-scale";
import { area, line } from "d3-shape";
import type { Cents } from "#/lib/money";
import { length } from "#/lib/money";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { steps } from "./steps";

const height = 176;
const box = { top: 14, bottom: 24, left: 44, right: 74 };

/** Spending up to each day of a month. The month before is drawn beside it, if it is known. */
export function Pace(p: {
  now: { name: string; sums: Cents[] };
  before: { name: string; sums: Cents[] };
  /** The number of days in the month. */
  days: number;
  say: (c: Cents) => string;
  axis: (c: Cents) => string;
}) {
  const days = Math.max(p.days, p.before.sums.length);
  const last = p.now.sums.at(-1) ?? 0n;
  const end = p.before.sums.at(-1) ?? 0n;
  const beside = p.before.sums.length > 0;
  const top = [last, end, 100n].reduce((a, b) => (a > b ? a : b));
  const y = scaleLinear([0, length(top)], [height - box.bottom, box.top]).nice(3);
  const [month, day, spent] = [p.now.name, p.now.sums.length, p.say(last)];
  const words = [t`Spent by day ${day} of ${month}: ${spent}.`];
  if (beside) words.push(t`All of ${{ before: p.before.name }}: ${{ amount: p.say(end) }}.`);
  const row = (i: number) => [
    String(i + 1),
    p.now.sums[i] === undefined ? "" : p.say(p.now.sums[i]),
    ...(beside ? [p.before.sums[i] === undefined ? "" : p.say(p.before.sums[i])] : []),
  ];
  return (
    <Frame
      words={words.join(" ")}
      table={{
        heads: [t`Day`, p.now.name, ...(beside ? [p.before.name] : [])],
        rows: Array.from({ length: days }, (_, i) => row(i)),
      }}
    >
      {(width) => {
        const x = scaleLinear([0, days - 1], [box.left, width - box.right]);
        const path = line<Cents>()
          .x((_, i) => x(i))
          .y((c) => y(length(c)));
        const fill = area<Cents>()
          .x((_, i) => x(i))
          .y0(y(0))
          .y1((c) => y(length(c)));
        const here = { x: x(p.now.sums.length - 1), y: y(length(last)) };
        const there = y(length(end));
        // Places the point's label so that it covers neither the other line nor the names of the days.
        const below = beside && there < here.y && here.y < height - box.bottom - 18;
        const both = beside && Math.abs(there - here.y) < 30 && p.now.sums.length > days - 4;
        return (
          <svg width={width} height={height} aria-hidden="true">
            {steps(y.ticks(3), last === 0n && end === 0n).map((n) => (
              <g key={n}>
                <line className={n ? css.grid : css.zero} x1={box.left} x2={width - box.right} y1={y(n)} y2={y(n)} />
                <text x={box.left - 8} y={y(n)} dy=".35em" textAnchor="end">
                  {p.axis(BigInt(Math.round(n)) * 100n)}
                </text>
              </g>
            ))}
            {[0, 7, 14, 21, days - 1].map((d) => (
              <text key={d} x={x(d)} y={height - 4} textAnchor="middle">
                {d + 1}
              </text>
            ))}
            <path className={css.before} d={path(p.before.sums) ?? ""} />
            <path className={css.area} d={fill(p.now.sums) ?? ""} />
            <path className={css.now} d={path(p.now.sums) ?? ""} />
            {p.now.sums.length > 0 && (
              <>
                <circle className={css.dot} cx={here.x} cy={here.y} r="4" />
                {!both && (
                  <text className={css.strong} x={here.x + 8} y={here.y} dy={below ? "1.2em" : "-.6em"}>
                    {p.say(last)}
                  </text>
                )}
              </>
            )}
            {beside && (
              <>
                <text x={width - box.right + 8} y={there} dy="-.2em">
                  {p.before.name}
                </text>
                <text className={css.strong} x={width - box.right + 8} y={there} dy="1em">
                  {p.axis(end)}
                </text>
              </>
            )}
          </svg>
        );
      }}
    </Frame>
  );
}
