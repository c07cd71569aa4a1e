import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { TransactionsSearch } from "#/lib/address";
import type { Cents } from "#/lib/money";
import { Figure } from "#/ui/Amount";
import css from "./Figures.module.css";

type One = { name: string; value: Cents; currency: string; hint?: ReactNode; search: TransactionsSearch };

/** The figures of a screen. The main one is large; each opens its transactions. */
export function Figures({ main, others }: { main: One; others: One[] }) {
  return (
    <div className={css.figures}>
      {[main, ...others].map((f, i) => (
        <Link key={f.name} className={i ? css.figure : css.big} to="/transactions" search={f.search}>
          <span className={css.label}>{f.name}</span>
          <Figure value={f.value} currency={f.currency} size={i ? "small" : "large"} />
          {f.hint && <span className="small dim">{f.hint}</span>}
        </Link>
      ))}
    </div>
  );
}

/** A comparison with an earlier period: green if it is good, otherwise in the color for things to look at. */
export const Than = ({ good, children }: { good: boolean; children: ReactNode }) => (
  <span className={good ? css.good : css.look}>{children}</span>
);
