import { Trans } from "@lingui/react/macro";
import { type ReactNode, useRef } from "react";
import css from "./Chart.module.css";
import { useWidth } from "./width";

type Table = { heads: string[]; rows: string[][] };

/** A chart, with one sentence for screen readers and a table for people who want the figures. */
export function Frame(p: { words: string; table: Table; children: (width: number) => ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const width = useWidth(ref);
  return (
    <figure className={css.frame} aria-label={p.words}>
      <div ref={ref}>{p.children(width)}</div>
      <details className={css.table}>
        <summary>
          <Trans>Show table</Trans>
        </summary>
        <table>
          <thead>
            <tr>
              {p.table.heads.map((h) => (
                <th key={h} scope="col">
                  {h}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {p.table.rows.map((r) => (
              <tr key={r[0]}>
                {r.map((c, i) =>
                  i ? (
                    <td key={p.table.heads[i]}>{c}</td>
                  ) : (
                    <th key={p.table.heads[0]} scope="row">
                      {c}
                    </th>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
