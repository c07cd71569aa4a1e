import type { ReactNode } from "react";
import css from "./Page.module.css";

/**
 * The body of a screen: one column, or a wide one and a narrow one. Where there is no room for both, an
 * `aside` falls below the wide column, and a `lead` stands above it. A lead is also read first.
 */
export function Page({ aside, lead, children }: { aside?: ReactNode; lead?: ReactNode; children: ReactNode }) {
  return (
    <div className={`${css.page} ${aside || lead ? css.two : ""}`}>
      {lead && <div className={`${css.column} ${css.lead}`}>{lead}</div>}
      <div className={css.column}>{children}</div>
      {aside && <div className={css.column}>{aside}</div>}
    </div>
  );
}

/** Cards side by side, as many as fit. */
export const Grid = ({ children }: { children: ReactNode }) => <div className={css.grid}>{children}</div>;

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
