import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { useLayoutEffect, useRef } from "react";
import { firstDay, lastDay, monthAbbr, monthName } from "#/lib/dates";
import type { Cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Tile } from "#/ui/Chip";
import { heat, type Line, warmth } from "./lines";
import css from "./MonthsPage.module.css";

export type Column = { key: string; complete: boolean; i: number };

type Props = {
  /** The heading of the column with the rows' names. */
  head: string;
  lines: readonly Line[];
  total?: Omit<Line, "key" | "name">;
  /** The months, oldest first. */
  columns: readonly Column[];
  now: string;
  say: (c: Cents) => string;
};

/** The link to a row's transactions, in one month or in all months of the table. */
function To(p: {
  line: Line;
  from?: string;
  to?: string;
  className?: string;
  title: string;
  children: React.ReactNode;
}) {
  if (!p.line.search || !p.from || !p.to) return <span className={p.className}>{p.children}</span>;
  return (
    <Link
      className={p.className}
      to="/transactions"
      search={{ ...p.line.search, from: firstDay(p.from), to: lastDay(p.to) }}
      title={p.title}
    >
      {p.children}
    </Link>
  );
}

/** The table for wide screens. The larger a figure is within its row, the darker is its cell. */
export function HeatTable(p: Props) {
  const { look } = useCategories();
  const ref = useRef<HTMLElement>(null);
  const shown = p.columns.length;
  // Scrolls to the end, because the newest months matter most.
  useLayoutEffect(() => {
    if (ref.current && shown > 0) ref.current.scrollLeft = ref.current.scrollWidth;
  }, [shown]);
  const year = (c: Column, i: number) => (i === 0 || c.key.endsWith("-01") ? ` ’${c.key.slice(2, 4)}` : "");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the window is scrolled by keys too
    <section ref={ref} className={css.scroll} aria-label={t`By month`} tabIndex={0}>
      <table className={css.heat}>
        <thead>
          <tr>
            <th scope="col">{p.head}</th>
            {p.columns.map((c, i) => (
              <th key={c.key} scope="col" className={c.key === p.now ? css.now : undefined}>
                {monthAbbr(c.key)}
                {year(c, i)}
                {!c.complete && c.key !== p.now && "*"}
                {c.key === p.now && (
                  <span className="sr">
                    {" "}
                    <Trans>so far</Trans>
                  </span>
                )}
              </th>
            ))}
            <th scope="col">
              <Trans>Average</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {p.lines.map((line) => {
            const warm = heat(p.columns.map((c) => line.values[c.i] ?? 0n));
            return (
              <tr key={line.key}>
                <th scope="row">
                  <span className={css.name}>
                    {line.category !== undefined && <Tile {...look(line.category)} />}
                    <bdi className="cut" title={line.name}>
                      {line.name}
                    </bdi>
                  </span>
                </th>
                {p.columns.map((c, i) => {
                  const value = line.values[c.i] ?? 0n;
                  const level = warm[i] ?? 0;
                  const words = warmth(level);
                  return (
                    <td key={c.key} className={css[`h${level}`]}>
                      {value === 0n ? (
                        <span className="dim">–</span>
                      ) : (
                        <To
                          line={line}
                          from={c.key}
                          to={c.key}
                          className={css.figure}
                          title={`${line.name}, ${monthName(c.key)}`}
                        >
                          {p.say(value)}
                          {words && <span className="sr">, {words}</span>}
                        </To>
                      )}
                    </td>
                  );
                })}
                <td className={css.average}>{line.average === undefined ? "" : p.say(line.average)}</td>
              </tr>
            );
          })}
        </tbody>
        {p.total && (
          <tfoot>
            <tr>
              <th scope="row">{t({ message: "Total", context: "row of a table" })}</th>
              {p.columns.map((c) => (
                <td key={c.key}>{p.say(p.total?.values[c.i] ?? 0n)}</td>
              ))}
              <td>{p.total.average === undefined ? "" : p.say(p.total.average)}</td>
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

/** The key to the shades of the table. */
export const HeatKey = () => (
  <span className={css.key} aria-hidden="true">
    <Trans>less</Trans>
    <span className={css.shades}>
      {[1, 2, 3, 4, 5].map((n) => (
        <i key={n} className={css[`h${n}`]} />
      ))}
    </span>
    <Trans>more, within each row</Trans>
  </span>
);

/** The months of a row as small bars. The current month has a color. */
function Spark({ values, now }: { values: readonly Cents[]; now: boolean }) {
  const tall = values.reduce((a, b) => (b > a ? b : a), 1n);
  const n = values.length;
  return (
    <svg className={css.spark} viewBox={`0 0 ${n * 10} 24`} preserveAspectRatio="none" aria-hidden="true">
      {values.map((v, i) => {
        const h = v <= 0n ? 0.5 : Math.max(1, (24 * Number(v)) / Number(tall));
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its month
            key={i}
            className={now && i === n - 1 ? css.running : css.month}
            x={i * 10 + 1}
            y={24 - h}
            width="8"
            height={h}
            rx="1"
          />
        );
      })}
    </svg>
  );
}

/** The table for phones: each row is one line, with its months as small bars. */
export function HeatList(p: Props & { label: string }) {
  const { look } = useCategories();
  const running = p.columns.at(-1)?.key === p.now;
  const from = p.columns[0]?.key;
  const to = p.columns.at(-1)?.key;
  const of = (line: Omit<Line, "key" | "name">) => p.columns.map((c) => line.values[c.i] ?? 0n);
  const row = (line: Line, total: boolean) => {
    const values = of(line);
    return (
      <li key={line.key} className={`${css.row} ${total ? css.whole : ""}`}>
        {line.category !== undefined && <Tile {...look(line.category)} />}
        <To line={line} from={from} to={to} className={css.open} title={line.name}>
          <bdi>{line.name}</bdi>
        </To>
        <span className={css.usual}>
          {line.average !== undefined && (
            <>
              {p.say(line.average)}
              <span className="sr">
                {" "}
                <Trans>per month on average</Trans>
              </span>
            </>
          )}
        </span>
        <Spark values={values} now={running} />
        <span className={css.sofar}>{running && <Trans>{{ amount: p.say(values.at(-1) ?? 0n) }} so far</Trans>}</span>
      </li>
    );
  };
  return (
    <ul aria-label={p.label}>
      {p.total && row({ ...p.total, key: "total", name: t({ message: "Total", context: "row of a table" }) }, true)}
      {p.lines.map((l) => row(l, false))}
    </ul>
  );
}
