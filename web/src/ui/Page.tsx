import type { ReactNode } from "react";
import { each } from "./Guard";
import css from "./Page.module.css";

/** Marks figures of another period until those of this one are here, so nobody reads them as current. */
export const stale = (is: boolean) => (is ? { "aria-busy": true, "data-stale": true } : {});

type Props = { aside?: ReactNode; lead?: ReactNode; stale?: boolean; children: ReactNode };

/**
 * The body of a screen: one column, or a wide one and a narrow one. Where there is no room for both, an
 * `aside` falls below the wide column, and a `lead` stands above it. A lead is also read first.
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

/** Names and what they stand for. */
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
