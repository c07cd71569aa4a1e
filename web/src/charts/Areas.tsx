import { t } from "@lingui/core/macro";
import { scaleLinear } from "d3-scale";
import { dayShort, monthAbbr, monthOf, ordinal } from "#/lib/dates";
import { type Cents, length } from "#/lib/money";
import type { Tone } from "#/lib/tones";
import own from "./Areas.module.css";
import { bands, flags } from "./bands";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { monthTicks } from "./spans";
import { steps } from "./steps";

const height = 320;
const box = { top: 28, bottom: 24, left: 56, right: 12 };
const room = 52; // px for the name of a month
const letter = 6.5; // px, roughly, for a letter or a digit
const apart = 36; // px of distance below which flags are joined

type Layer = { key: string; name: string; tone: Tone; values: readonly Cents[] };

/**
 * Assets above the line and debts below it, by kind, with the net worth as a line. Flags mark days on which accounts
 * were added, because such a step is not a gain. The names of accounts can be long, so they are listed below the chart.
 */
export function Areas(p: {
  days: readonly string[];
  layers: readonly Layer[];
  net: readonly Cents[];
  marks: readonly { day: string; names: readonly string[] }[];
  today: string;
  say: (c: Cents) => string;
  axis: (c: Cents) => string;
}) {
  const [first, last] = [p.days[0], p.days.at(-1)];
  if (!first || !last) return null;
  const dayName = (d: string) => dayShort(d, p.today);
  const drawn = bands(p.layers.map((l) => l.values.map(length)));
  const net = p.net.map(length);
  const all = [...drawn.flat(2), ...net, 0];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const y = scaleLinear([low, high === low ? low + 1 : high], [height - box.bottom, box.top]).nice(4);
  const end = p.net.at(-1) ?? 0n;
  const marks = p.marks.toSorted((a, b) => ordinal(a.day) - ordinal(b.day));
  const added = marks.map((m) => {
    const names = m.names.join(", ");
    return t`Added on ${{ day: dayName(m.day) }}: ${names}.`;
  });
  const ticks = steps(y.ticks(4), low === 0 && high === 0).map((n) => ({
    n,
    text: p.axis(BigInt(Math.round(n)) * 100n),
  }));
  const left = Math.max(box.left, ...ticks.map((k) => 12 + letter * k.text.length));
  const parts = p.layers.map((l) => `${l.name} ${p.say(l.values.at(-1) ?? 0n)}`).join(", ");
  const description = t`Net worth from ${{ from: dayName(first) }} to ${{ to: dayName(last) }}: ${{ first: p.say(p.net[0] ?? 0n) }} to ${{ last: p.say(end) }}. Now: ${parts}.`;
  return (
    <Frame
      words={[description, ...added].join(" ")}
      table={{
        heads: [t`Day`, ...p.layers.map((l) => l.name), t`Net worth`],
        rows: p.days
          .map((d, i) => [dayName(d), ...p.layers.map((l) => p.say(l.values[i] ?? 0n)), p.say(p.net[i] ?? 0n)])
          .toReversed(),
      }}
    >
      {(width) => {
        const right = width - box.right;
        const x = scaleLinear([ordinal(first), Math.max(ordinal(last), ordinal(first) + 1)], [left, right]);
        const xs = p.days.map((d) => x(ordinal(d)));
        const path = (values: readonly number[]) => values.map((v, i) => `${i ? "L" : "M"}${xs[i]} ${y(v)}`).join("");
        const at = marks.map((m) => x(ordinal(m.day)));
        return (
          <>
            <svg width={width} height={height} aria-hidden="true">
              {ticks.map(({ n, text }) => (
                <g key={n}>
                  <line className={n ? css.grid : css.zero} x1={left} x2={right} y1={y(n)} y2={y(n)} />
                  <text x={left - 8} y={y(n)} dy=".35em" textAnchor="end">
                    {text}
                  </text>
                </g>
              ))}
              {monthTicks(first, last, Math.max(1, Math.floor((right - left) / room))).map((d) => (
                <text key={d} x={x(ordinal(d))} y={height - 4} textAnchor="middle">
                  {monthAbbr(monthOf(d))} {d.slice(5, 7) === "01" && d.slice(0, 4)}
                </text>
              ))}
              {p.layers.map((l, i) => {
                const band = drawn[i] ?? [];
                const [inner, outer] = [band.map((b) => b[0]), band.map((b) => b[1])];
                const back = inner.map((v, k) => `L${xs[k]} ${y(v)}`).toReversed();
                return (
                  <g key={l.key} className={`c${l.tone}`}>
                    <path className={own.layer} d={`${path(outer)}${back.join("")}Z`} />
                    <path className={own.brim} d={path(outer)} />
                  </g>
                );
              })}
              {marks.map((m, i) => (
                <g key={m.day}>
                  <line className={css.before} x1={at[i]} x2={at[i]} y1={box.top - 8} y2={height - box.bottom} />
                  <circle className={own.begin} cx={at[i]} cy={y(net[p.days.indexOf(m.day)] ?? 0)} r="4" />
                </g>
              ))}
              {flags(at, apart).map((f) => {
                const text = f.from === f.to ? `${f.from}` : `${f.from}–${f.to}`;
                const half = Math.max(9, (letter * text.length) / 2 + 4);
                const px = Math.min(f.at, width - half - 1);
                return (
                  <g key={f.from}>
                    <rect className={own.flag} x={px - half} y={box.top - 26} width={2 * half} height="18" rx="9" />
                    <text className={css.strong} x={px} y={box.top - 17} dy=".35em" textAnchor="middle">
                      {text}
                    </text>
                  </g>
                );
              })}
              <path className={own.total} d={path(net)} />
              <circle className={css.point} cx={xs.at(-1)} cy={y(length(end))} r="4" />
            </svg>
            <ul className={own.legend}>
              <li>
                <i className={own.line} />
                <span>{t`Net worth`}</span> <b>{p.say(end)}</b>
              </li>
              {p.layers.map((l) => (
                <li key={l.key}>
                  <i className={`${own.swatch} c${l.tone}`} />
                  <span>{l.name}</span> <b>{p.say(l.values.at(-1) ?? 0n)}</b>
                </li>
              ))}
            </ul>
            {marks.length > 0 && (
              <ol className={own.added}>
                {marks.map((m, i) => (
                  <li key={m.day}>
                    <b>{i + 1}</b>
                    <span>{added[i]}</span>
                  </li>
                ))}
              </ol>
            )}
          </>
        );
      }}
    </Frame>
  );
}
