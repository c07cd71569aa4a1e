import { t } from "@lingui/core/macro";
import { scaleBand, scaleLinear } from "d3-scale";
import { monthAbbr, monthName } from "#/lib/dates";
import { type Cents, length } from "#/lib/money";
import type { Tone } from "#/lib/tones";
import css from "./Chart.module.css";
import { Frame } from "./Frame";
import { steps } from "./steps";

const height = 200;
const box = { top: 12, bottom: 24, left: 48 };
const narrow = 460; // below this width, only the last seven months are drawn

type Bar = { month: string; value: Cents };

/** One figure for each month. A month with more refunds than spending has its bar below the line. */
export function Bars(p: {
  name: string;
  bars: Bar[];
  tone: Tone;
  say: (c: Cents) => string;
  axis: (c: Cents) => string;
  way: (month: string) => { href: string; go: () => void };
  /** Draw no average, for bars that mean nothing when they are added up. */
  apart?: boolean;
}) {
  const began = p.bars.findIndex((b) => b.value !== 0n);
  const complete = began < 0 ? [] : p.bars.slice(began, -1);
  const mean = complete.length > 1 ? complete.reduce((n, b) => n + b.value, 0n) / BigInt(complete.length) : 0n;
  const { name } = p;
  const months = p.bars.map((b) => `${monthName(b.month)} ${p.say(b.value)}`).join(", ");
  return (
    <Frame
      words={t`${name} by month: ${months}.`}
      table={{ heads: [t`Month`, name], rows: p.bars.map((b) => [monthName(b.month), p.say(b.value)]) }}
    >
      {(width) => {
        const shown = width < narrow ? p.bars.slice(-7) : p.bars;
        const values = shown.map((b) => length(b.value));
        const [low, top] = [values.reduce((a, b) => Math.min(a, b), 0), values.reduce((a, b) => Math.max(a, b), 1)];
        const x = scaleBand(
          shown.map((b) => b.month),
          [box.left, width],
        );
        const y = scaleLinear([low, top], [height - box.bottom, box.top]).nice(4);
        const wide = Math.min(28, x.bandwidth() * 0.6);
        return (
          <svg width={width} height={height} role="group" aria-label={t`${name} by month`} className={`c${p.tone}`}>
            {steps(y.ticks(4), began < 0).map((n) => (
              <g key={n} aria-hidden="true">
                <line className={n ? css.grid : css.zero} x1={box.left} x2={width} y1={y(n)} y2={y(n)} />
                <text x={box.left - 8} y={y(n)} dy=".35em" textAnchor="end">
                  {p.axis(BigInt(Math.round(n)) * 100n)}
                </text>
              </g>
            ))}
            {mean > 0n && !p.apart && (
              <line className={css.before} x1={box.left} x2={width} y1={y(length(mean))} y2={y(length(mean))} />
            )}
            {shown.map((b) => {
              const way = p.way(b.month);
              const at = y(length(b.value));
              const [month, amount] = [monthName(b.month), p.say(b.value)];
              return (
                <a
                  key={b.month}
                  className={css.mark}
                  href={way.href}
                  aria-label={t`${month}, ${amount}: view transactions`}
                  onClick={(e) => {
                    if (e.metaKey || e.ctrlKey || e.shiftKey) return;
                    e.preventDefault();
                    way.go();
                  }}
                >
                  <rect
                    className={css.wide}
                    x={x(b.month)}
                    y={0}
                    width={x.bandwidth()}
                    height={height}
                    rx="6"
                    opacity={0.5}
                  />
                  <rect
                    className={css.node}
                    x={(x(b.month) ?? 0) + (x.bandwidth() - wide) / 2}
                    width={wide}
                    y={Math.min(at, y(0))}
                    height={Math.abs(y(0) - at)}
                    rx="2"
                  />
                </a>
              );
            })}
            <g aria-hidden="true" pointerEvents="none">
              {shown.map((b) => (
                <text key={b.month} x={(x(b.month) ?? 0) + x.bandwidth() / 2} y={height - 6} textAnchor="middle">
                  {monthAbbr(b.month)}
                </text>
              ))}
            </g>
          </svg>
        );
      }}
    </Frame>
  );
}
