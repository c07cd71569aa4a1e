import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useContext, useEffect, useRef } from "react";
import { overview } from "#/api/overview";
import { number } from "#/lib/words";
import { useCan } from "./rights";
import css from "./Tabs.module.css";
import { TabsAt } from "./tabs";

/** The tabs of a screen. Each has its own address. */
export function Tabs({ path }: { path: string }) {
  const { data } = useQuery(overview);
  const { admin } = useCan();
  const row = useRef<HTMLElement>(null);
  const tabs = useContext(TabsAt)(path).filter((tab) => admin || !tab.for);
  // On a phone the row may be wider than the window, so the open tab is scrolled into view.
  const shown = tabs.length;
  useEffect(() => {
    const here = shown > 0 && row.current?.querySelector<HTMLElement>(`a[href="${path}"]`);
    if (row.current && here) row.current.scrollLeft = here.offsetLeft - row.current.offsetLeft - 16;
  }, [path, shown]);
  if (shown === 0) return null;
  return (
    <nav
      ref={row}
      className={`${css.tabs} ${shown > 4 ? css.many : shown === 4 ? css.four : ""}`}
      aria-label={t`Views`}
    >
      {tabs.map((tab) => {
        const n = (data && tab.waits?.(data)) ?? 0;
        return (
          <Link key={tab.to} to={tab.to} search={{}} activeOptions={{ exact: true, includeSearch: false }}>
            {i18n._(tab.name)}
            {n > 0 && <span className={css.count}>{number(n)}</span>}
          </Link>
        );
      })}
    </nav>
  );
}
