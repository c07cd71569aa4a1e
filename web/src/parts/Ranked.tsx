import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TransactionsSearch } from "#/lib/address";
import { type Cents, length } from "#/lib/money";
import type { Look } from "#/lib/tones";
import { Sum } from "#/ui/Amount";
import { Tile } from "#/ui/Chip";
import css from "./Ranked.module.css";

export type Rank = {
  id: string;
  name: string;
  look: Look;
  amount: Cents;
  /** The value in the earlier period, if there is a comparison. */
  before?: Cents;
  hint?: ReactNode;
  search?: TransactionsSearch;
};

/** A list by amount, the largest first. Each line has a bar, its earlier value, and a link to its transactions. */
export function Ranked(p: { ranks: Rank[]; currency: string; change?: (now: Cents, before: Cents) => ReactNode }) {
  const largest = p.ranks.reduce((n, r) => (r.amount > n ? r.amount : n), 1n);
  return (
    <ul className={css.ranked}>
      {p.ranks.map((r) => {
        const inside = (
          <>
            <Tile {...r.look} />
            <span className={css.name}>{r.name}</span>
            <Sum value={r.amount} currency={p.currency} />
            {p.change && <span className={css.change}>{r.before !== undefined && p.change(r.amount, r.before)}</span>}
            <svg className={css.bar} aria-hidden="true">
              <rect className={css.track} width="100%" height="4" rx="2" />
              <rect
                className={css.value}
                width={`${Math.max(0, (100 * length(r.amount)) / length(largest))}%`}
                height="4"
                rx="2"
              />
            </svg>
            {r.hint && <span className={`${css.hint} small dim`}>{r.hint}</span>}
          </>
        );
        return (
          <li key={r.id} className={`c${r.look.tone}`}>
            {r.search ? (
              <Link className={css.line} to="/transactions" search={r.search}>
                {inside}
              </Link>
            ) : (
              <span className={css.line}>{inside}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
