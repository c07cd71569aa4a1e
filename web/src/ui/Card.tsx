import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import css from "./Card.module.css";
import { Guarded } from "./Guard";

/**
 * A card with a thin border, about one question. With `flush`, rows reach its edges. If its content fails to render,
 * the rest of the screen stays.
 */
export function Card(p: {
  title?: ReactNode;
  aside?: ReactNode;
  foot?: ReactNode;
  flush?: boolean;
  /** Whether something in the card needs a person. */
  warn?: boolean;
  children: ReactNode;
}) {
  return (
    <section className={`${css.card} ${p.warn ? css.warn : ""}`}>
      {p.title && (
        <header className={css.head}>
          <h2>{p.title}</h2>
          {p.aside && <span className={css.aside}>{p.aside}</span>}
        </header>
      )}
      <div className={p.flush ? css.flush : css.body}>
        <Guarded>{p.children}</Guarded>
      </div>
      {p.foot && <footer className={css.foot}>{p.foot}</footer>}
    </section>
  );
}

/** An empty state: what it is, what comes next, and one action. */
export function Empty(p: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className={css.empty}>
      <svg className={css.art} viewBox="0 0 96 72" aria-hidden="true">
        <path className={css.a4} d="M8 64h80" />
        <rect className={css.a1} x="20" y="26" width="56" height="38" rx="6" />
        <path className={css.a2} d="M20 40V32c0-9 8-16 18-16h20c10 0 18 7 18 16v8z" />
        <rect className={css.a3} x="42" y="34" width="12" height="15" rx="3" />
        <path className={css.a4} d="M14 14l4 4M82 14l-4 4M48 4v5" />
      </svg>
      <h2>{p.title}</h2>
      {p.children && <p>{p.children}</p>}
      {p.action}
    </div>
  );
}

/** A placeholder for content that is still loading, in its final size. */
export function Skeleton({ rows = 1, tall }: { rows?: number; tall?: boolean }) {
  return (
    <div className={css.skeleton} aria-busy="true">
      <span className="sr">
        <Trans>Loading</Trans>
      </span>
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <span key={i} className={tall ? css.tall : css.bone} />
      ))}
    </div>
  );
}
