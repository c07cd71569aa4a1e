import { t } from "@lingui/core/macro";
import { scaleLinear } from "d3-scale";
import { dayShort, ordinal } from "#/lib/dates";
import { type Cents, length } from "#/lib/money";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { roomy, steps } from "./steps";

const height = 220;
const box = { top: 24, bottom: 24, left: 48, right: 64 };
const apart = 56; // px of distance that a label needs
const yearApart = 34; // px of distance that a year needs

type Point = { day: string; value: Cents };

/** A price over time. It changes only on certain days, so the line has steps. The axis begins at zero. */
export function Steps(p: {
  name: string;
  points: readonly Point[];
  until: string;
  today: string;
  say: (c: Cents) => string;
  axis: (c: Cents) => string;
}) {
  const first = p.points[0];
  const last = p.points.at(-1);
  if (!first || !last) return null;
  const dayName = (d: string) => dayShort(d, p.today);
  const top = Math.max(...p.points.map((k) => length(k.value)), 0.01);
  const y = scaleLinear([0, top * 1.1], [height - box.bottom, box.top]).nice(4);
  const { name } = p;
  const list = p.points.map((k) => `${dayName(k.day)} ${p.say(k.value)}`).join(", ");
  return (
    <Frame
      words={t`${name} over time: ${list}.`}
      table={{
        heads: [t`Since`, t`Amount`],
        rows: p.points.map((k) => [dayName(k.day), p.say(k.value)]).toReversed(),
      }}
    >
      {(width) => {
        const from = ordinal(first.day);
        const x = scaleLinear([from, Math.max(ordinal(p.until), from + 1)], [box.left, width - box.right]);
        const at = (k: Point) => [x(ordinal(k.day)), y(length(k.value))] as const;
        const end = x(Math.max(ordinal(p.until), ordinal(last.day)));
        const [fx, fy] = at(first);
        const line = `M${fx} ${fy}${p.points
          .slice(1)
          .map((k) => `H${at(k)[0]}V${at(k)[1]}`)
          .join("")}H${end}`;
        const few = p.points.length <= 12;
        let right = Number.NEGATIVE_INFINITY;
        const years = new Set(p.points.map((k) => k.day.slice(0, 4)));
        for (let n = Number(first.day.slice(0, 4)); n <= Number(p.until.slice(0, 4)); n++) years.add(String(n));
        return (
          <svg width={width} height={height} aria-hidden="true">
            {steps(y.ticks(4), false).map((n) => (
              <g key={n}>
                <line className={n ? css.grid : css.zero} x1={box.left} x2={width - box.right} y1={y(n)} y2={y(n)} />
                <text x={box.left - 8} y={y(n)} dy=".35em" textAnchor="end">
                  {p.axis(BigInt(Math.round(n * 100)))}
                </text>
              </g>
            ))}
            {roomy(
              [...years].sort().map((n) => ({ n, at: Math.max(x(ordinal(`${n}-01-01`)), box.left) })),
              yearApart,
            ).map(
              ({ n, at }) =>
                at <= end && (
                  <text key={n} x={at} y={height - 4}>
                    {n}
                  </text>
                ),
            )}
            <path className={css.area} d={`${line}V${y(0)}H${fx}Z`} />
            <path className={css.now} d={line} />
            {few &&
              p.points.slice(0, -1).map((k, i) => {
                const [px, py] = at(k);
                const next = p.points[i + 1];
                const room = px - right > apart && (!next || at(next)[0] - px > apart);
                if (room) right = px;
                return (
                  <g key={k.day}>
                    <circle className={css.dot} cx={px} cy={py} r="3.5" />
                    {room && (
                      <text x={px + 6} y={py - 8}>
                        {p.say(k.value)}
                      </text>
                    )}
                  </g>
                );
              })}
            <circle className={css.dot} cx={at(last)[0]} cy={at(last)[1]} r="3.5" />
            <text className={css.strong} x={end + 6} y={at(last)[1]} dy=".35em">
              {p.say(last.value)}
            </text>
          </svg>
        );
      }}
    </Frame>
  );
}
