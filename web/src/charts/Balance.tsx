import { t } from "@lingui/core/macro";
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { dayShort, monthAbbr, monthOf, ordinal } from "#/lib/dates";
import { type Cents, length } from "#/lib/money";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { alone, type Known, monthTicks, moves, offs, spans, strokes } from "./spans";
import { steps } from "./steps";

const height = 240;
const box = { top: 22, bottom: 24, left: 52, right: 12 };
const room = 52; // px for the name of a month

/**
 * A balance day by day. Days without a stated balance are dotted. The line breaks where days are missing, and the
 * background is hatched where the transactions do not explain the balances.
 */
export function Balance(p: {
  points: Known[];
  today: string;
  say: (c: Cents) => string;
  axis: (c: Cents) => string;
  /** The label of a day without a stated balance. */
  derived: string;
}) {
  const first = p.points[0];
  const last = p.points.at(-1);
  if (!first || !last) return null;
  const { runs, gaps } = spans(p.points);
  const values = p.points.map((k) => length(k.value));
  const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  const pad = Math.max((high - low) * 0.08, 1);
  const y = scaleLinear([low - pad, high + pad], [height - box.bottom, box.top]).nice(4);
  const dayName = (d: string) => dayShort(d, p.today);
  const marked = [
    ...gaps.map((g) => ({ ...g, word: t`no data`, broken: true })),
    ...offs(p.points).map((g) => ({ ...g, word: t`mismatch`, broken: false })),
  ];
  const missing = marked.map((g) => {
    const [from, to] = [dayName(g.from.day), dayName(g.to.day)];
    return g.broken
      ? t`No balance data between ${from} and ${to}.`
      : t`Balances don’t match between ${from} and ${to}.`;
  });
  const description = t`Balance from ${{ from: dayName(first.day) }} to ${{ to: dayName(last.day) }}: ${{ first: p.say(first.value) }} to ${{ last: p.say(last.value) }}.`;
  return (
    <Frame
      words={[description, ...missing].join(" ")}
      table={{
        heads: [t`Day`, t`Balance`, t`Source`],
        rows: moves(p.points)
          .toReversed()
          .map((k) => [dayName(k.day), p.say(k.value), k.derived ? p.derived : t`bank-reported`]),
      }}
    >
      {(width) => {
        const x = scaleLinear(
          [ordinal(first.day), Math.max(ordinal(last.day), ordinal(first.day) + 1)],
          [box.left, width - box.right],
        );
        const at = (k: Known) => [x(ordinal(k.day)), y(length(k.value))] as const;
        const path = line<Known>()
          .x((k) => at(k)[0])
          .y((k) => at(k)[1]);
        const [ex, ey] = at(last);
        return (
          <svg width={width} height={height} aria-hidden="true">
            <defs>
              <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                <path className={css.hatch} d="M0 0v7" />
              </pattern>
            </defs>
            {steps(y.ticks(4), low === 0 && high === 0).map((n) => (
              <g key={n}>
                <line className={n ? css.grid : css.zero} x1={box.left} x2={width - box.right} y1={y(n)} y2={y(n)} />
                <text x={box.left - 8} y={y(n)} dy=".35em" textAnchor="end">
                  {p.axis(BigInt(Math.round(n)) * 100n)}
                </text>
              </g>
            ))}
            {monthTicks(first.day, last.day, Math.max(1, Math.floor((width - box.left) / room))).map((d) => (
              <text key={d} x={x(ordinal(d))} y={height - 4} textAnchor="middle">
                {monthAbbr(monthOf(d))} {d.slice(5, 7) === "01" && d.slice(0, 4)}
              </text>
            ))}
            {marked.map((g) => {
              const [ax, ay] = at(g.from);
              const [bx, by] = at(g.to);
              const wide = Math.max(bx - ax, 3);
              const ground = { x: ax, width: wide, y: box.top, height: height - box.top - box.bottom };
              return (
                <g key={g.word + g.from.day}>
                  <rect className={css.gap} {...ground} />
                  <rect fill="url(#hatch)" {...ground} />
                  {g.broken && <path className={css.before} d={`M${ax} ${ay}L${bx} ${by}`} />}
                  {wide > room * 1.6 && (
                    <text className={css.missing} x={(ax + bx) / 2} y={box.top - 8} textAnchor="middle">
                      {g.word}
                    </text>
                  )}
                </g>
              );
            })}
            {runs.flatMap(strokes).map((s) => (
              <path key={s.points[0]?.day} className={s.derived ? css.reckoned : css.now} d={path(s.points) ?? ""} />
            ))}
            {runs.flatMap(alone).map((k) => (
              <circle key={k.day} className={css.stated} cx={at(k)[0]} cy={at(k)[1]} r="2" />
            ))}
            <circle className={css.dot} cx={ex} cy={ey} r="4" />
          </svg>
        );
      }}
    </Frame>
  );
}
