import type { ReactNode } from "react";
import { each } from "./Guard";
import css from "./Page.module.css";

/** Marks figures of the previous period while new ones load, so that nobody reads them as current. */
export const stale = (is: boolean) => (is ? { "aria-busy": true, "data-stale": true } : {});

type Props = { aside?: ReactNode; lead?: ReactNode; stale?: boolean; children: ReactNode };

/**
 * The body of a screen: one column, or a wide and a narrow one. If there is no room for both, an `aside` moves below
 * the wide column, and a `lead` moves above it. A screen reader also reads the lead first.
 */
export function Page({ aside, lead, stale: old = false, children }: Props) {
  return (
    <div className={`${css.page} ${aside || lead ? css.two : ""}`} {...stale(old)}>
      {lead && <div className={`${css.column} ${css.lead}`}>{each(lead)}</div>}
      <div className={css.column}>{each(children)}</div>
      {aside && <div className={css.column}>{each(aside)}</div>}
    </div>
  );
}

/** Cards side by side, as many as fit. */
export const Grid = ({ children }: { children: ReactNode }) => <div className={css.grid}>{each(children)}</div>;

/** A list of names, each with its value. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={css.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
