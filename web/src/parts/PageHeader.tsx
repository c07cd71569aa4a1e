import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useLocation } from "@tanstack/react-router";
import { type ReactNode, useContext, useEffect } from "react";
import { overlay } from "#/lib/overlay";
import { amounts } from "#/lib/persisted";
import { Button } from "#/ui/Button";
import css from "./PageHeader.module.css";
import { Tabs } from "./Tabs";
import { TabsAt } from "./tabs";

/** The head of every screen: its title, and the tools that all screens share. */
export function PageHeader({ title, sub, children }: { title: string; sub?: ReactNode; children?: ReactNode }) {
  const hidden = amounts.use() === "hidden";
  const path = useLocation({ select: (l) => l.pathname });
  const tab = useContext(TabsAt)(path).findLast((x, i) => i > 0 && x.to === path);
  const named = tab ? `${i18n._(tab.name)} · ${title}` : title;
  useEffect(() => {
    document.title = `${named} · coffer`;
  }, [named]);
  return (
    <>
      <header className={css.header}>
        <h1>{title}</h1>
        {sub && <span className={`${css.sub} dim`}>{sub}</span>}
        <div className={css.tools}>
          {children}
          <span className="desk">
            <Button icon="search" keyed="Ctrl K" onClick={() => overlay.set("palette")}>
              <Trans>Search</Trans>
            </Button>
          </span>
          <span className={children ? css.never : "phone"}>
            <Button kind="quiet" icon="search" aria-label={t`Search`} onClick={() => overlay.set("palette")} />
          </span>
          <Button
            kind="quiet"
            icon={hidden ? "shut" : "eye"}
            aria-label={t`Hide amounts`}
            aria-pressed={hidden}
            title={hidden ? t`Show amounts (.)` : t`Hide amounts (.)`}
            onClick={() => amounts.set(hidden ? "shown" : "hidden")}
          />
        </div>
      </header>
      <Tabs path={path} />
    </>
  );
}
