import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import css from "./Opens.module.css";

/** The name of a category or tag. It opens the form, or the transactions for members with view-only access. */
export function Opens(p: { write: boolean; onOpen: () => void; category?: string; tag?: string; children: ReactNode }) {
  if (p.write)
    return (
      <button type="button" className={css.open} onClick={p.onOpen}>
        {p.children}
      </button>
    );
  return (
    <Link to="/transactions" search={{ category: p.category, tag: p.tag }}>
      {p.children}
    </Link>
  );
}
