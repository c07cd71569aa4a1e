import type { ReactNode } from "react";
import css from "./Stats.module.css";

type Cell = { name: ReactNode; value: ReactNode; hint?: ReactNode };

/** The figures of a page in one strip. The first one is the answer to the page's question. */
export function Stats({ label, cells }: { label: string; cells: readonly (Cell | false | undefined)[] }) {
  return (
    <dl className={css.stats} aria-label={label}>
      {cells.map(
        (c, i) =>
          c && (
            // biome-ignore lint/suspicious/noArrayIndexKey: a cell has its place
            <div key={i} className={css.cell}>
              <dt className={css.name}>{c.name}</dt>
              <dd className={css.value}>{c.value}</dd>
              {c.hint && <dd className={css.hint}>{c.hint}</dd>}
            </div>
          ),
      )}
    </dl>
  );
}
