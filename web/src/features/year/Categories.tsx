import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { TransactionsSearch } from "#/lib/address";
import { abs, type Cents, length } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Card } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { difference, growth, type Line } from "./lines";
import css from "./Year.module.css";

type Props = {
  title: string;
  total: string;
  aside?: ReactNode;
  lines: readonly Line[];
  year: number;
  days: TransactionsSearch;
  /** Whether there are figures of the year before. */
  compared: boolean;
  say: (c: Cents) => string;
  brief: (c: Cents) => string;
  direction: "in" | "out";
};

/** Categories with their subcategories. Every figure opens its transactions. On paper, all subcategories are shown. */
export function Categories(p: Props) {
  const { look, name } = useCategories();
  const [open, setOpen] = useState<readonly string[]>([]);
  if (p.lines.length === 0) return null;
  const all = p.lines.reduce((s, l) => ({ now: s.now + l.now, before: s.before + l.before }), { now: 0n, before: 0n });
  const largest = p.lines.reduce((m, l) => (abs(l.now) > m ? abs(l.now) : m), 1n);
  const figures = (f: { now: Cents; before: Cents }, strong: boolean, search?: TransactionsSearch) => {
    const d = f.now - f.before;
    const more = growth(f.now, f.before);
    const sign = d > 0n ? "+" : "";
    return (
      <>
        <td className={`${css.num} ${strong ? css.strong : ""}`}>
          {search ? (
            <Link to="/transactions" search={search}>
              {p.say(f.now)}
            </Link>
          ) : (
            p.say(f.now)
          )}
        </td>
        {p.compared && (
          <>
            <td className={`${css.num} ${css.wide}`}>{p.say(f.before)}</td>
            <td className={css.num}>{d === 0n ? p.brief(d) : `${sign}${p.brief(d)}`}</td>
            <td className={`${css.num} ${css.wide}`}>
              {more !== undefined && Math.abs(more) < 1000 && difference(Math.round(more))}
            </td>
          </>
        )}
      </>
    );
  };
  const searchOf = (slug: string | null): TransactionsSearch => ({
    ...p.days,
    ...(slug ? { category: slug } : { uncategorized: true, direction: p.direction }),
  });
  return (
    <Card title={p.title} aside={p.aside} flush>
      <table className={css.table}>
        <thead>
          <tr>
            <th scope="col">
              <Trans>Category</Trans>
            </th>
            <th className={css.bar} aria-hidden="true" />
            <th scope="col" className={css.num}>
              {p.year}
            </th>
            {p.compared && (
              <>
                <th scope="col" className={`${css.num} ${css.wide}`}>
                  {p.year - 1}
                </th>
                <th scope="col" className={css.num}>
                  <Trans>Change</Trans>
                </th>
                <th scope="col" className={`${css.num} ${css.wide}`}>
                  %
                </th>
              </>
            )}
          </tr>
        </thead>
        {p.lines.map((l) => {
          const key = l.slug ?? "";
          const shown = open.includes(key);
          const called = l.slug ? name(l.slug) : t`Uncategorized`;
          const { tone, icon } = look(l.slug);
          return (
            <tbody key={key} className={css.keep}>
              <tr>
                <th scope="row">
                  <span className={css.name}>
                    {l.parts.length > 0 ? (
                      <button
                        type="button"
                        className={css.fold}
                        aria-expanded={shown}
                        onClick={() => setOpen((o) => (shown ? o.filter((x) => x !== key) : [...o, key]))}
                      >
                        <Tile tone={tone} icon={icon} />
                        <span className={css.cut}>{called}</span>
                        <Icon name={shown ? "down" : "chev"} small />
                      </button>
                    ) : (
                      <Link className={css.fold} to="/transactions" search={searchOf(l.slug)}>
                        <Tile tone={tone} icon={icon} />
                        <span className={css.cut}>{called}</span>
                      </Link>
                    )}
                  </span>
                </th>
                <td className={`${css.bar} c${tone}`} aria-hidden="true">
                  {l.now > 0n && (
                    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                      <rect width={(100 * length(l.now)) / length(largest)} height="6" />
                    </svg>
                  )}
                </td>
                {figures(l, true, searchOf(l.slug))}
              </tr>
              {l.parts.map((part) => (
                <tr key={part.slug} className={`${css.part} ${shown ? "" : css.folded}`}>
                  <th scope="row">
                    <Link to="/transactions" search={searchOf(part.slug)}>
                      {name(part.slug)}
                    </Link>
                  </th>
                  <td className={css.bar} aria-hidden="true" />
                  {figures(part, false, searchOf(part.slug))}
                </tr>
              ))}
            </tbody>
          );
        })}
        <tbody className={css.keep}>
          <tr className={css.total}>
            <th scope="row">{p.total}</th>
            <td className={css.bar} aria-hidden="true" />
            {figures(all, true)}
          </tr>
        </tbody>
      </table>
    </Card>
  );
}
