import type { ReactNode } from "react";
import css from "./Lines.module.css";

/** A list in a flush card, with thin lines between the items. */
export const Lines = ({ label, children }: { label?: string; children: ReactNode }) => (
  <ul className={css.lines} aria-label={label}>
    {children}
  </ul>
);

/**
 * An item of a list: a mark, its name, a second line of text, and at the end a figure or buttons. `open` wraps the
 * name, for example in a link, and makes the whole line clickable.
 */
export function Item(p: {
  mark?: ReactNode;
  name: ReactNode;
  hint?: ReactNode;
  end?: ReactNode;
  /** On a phone, puts the buttons below the text. */
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

/** Details that most readers do not need. They open with a click on their name. */
export const Fold = ({ name, children }: { name: ReactNode; children: ReactNode }) => (
  <details className={css.fold}>
    <summary>{name}</summary>
    {children}
  </details>
);

/** A table of figures. The columns in `num` are aligned to the right. */
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
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never change places
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
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never change places
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
