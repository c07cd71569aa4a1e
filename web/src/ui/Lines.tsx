import type { ReactNode } from "react";
import css from "./Lines.module.css";

/** Lines of a flush card, parted by hairlines. */
export const Lines = ({ label, children }: { label?: string; children: ReactNode }) => (
  <ul className={css.lines} aria-label={label}>
    {children}
  </ul>
);

/**
 * One thing of a list: a mark, its name, a second line in words, and at the end a figure or what can be
 * done. `open` wraps the name, for example in a link, and the whole line can then be pressed.
 */
export function Item(p: {
  mark?: ReactNode;
  name: ReactNode;
  hint?: ReactNode;
  end?: ReactNode;
  /** On a phone, what can be done stands below the words. */
  below?: boolean;
  open?: (name: ReactNode) => ReactNode;
  children?: ReactNode;
}) {
  return (
    <li className={css.item}>
      <div className={`${css.line} ${p.open ? css.opens : ""} ${p.below ? css.below : ""}`}>
        {p.mark}
        <span className={css.words}>
          <span className={css.name}>{p.open ? p.open(p.name) : p.name}</span>
          {p.hint && <span className={css.hint}>{p.hint}</span>}
        </span>
        {p.end && <span className={css.end}>{p.end}</span>}
      </div>
      {p.children}
    </li>
  );
}

/** Details that most readers need not see, behind their name. */
export const Fold = ({ name, children }: { name: ReactNode; children: ReactNode }) => (
  <details className={css.fold}>
    <summary>{name}</summary>
    {children}
  </details>
);

/** A table of figures; the columns named in `num` stand at the right. */
export function Table(p: {
  label: string;
  heads: readonly string[];
  num?: readonly number[];
  rows: readonly { key: string; cells: readonly ReactNode[] }[];
}) {
  const side = (i: number) => (p.num?.includes(i) ? css.num : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than a phone is scrolled by keys too
    <section className={css.scroll} aria-label={p.label} tabIndex={0}>
      <table className={css.table}>
        <thead>
          <tr>
            {p.heads.map((h, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a head is its column
              <th key={i} scope="col" className={side(i)}>
                {h}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {p.rows.map((r) => (
            <tr key={r.key}>
              {r.cells.map((c, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column
                <td key={i} className={side(i)}>
                  {c}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
