import { type ReactNode, useEffect } from "react";
import { amounts } from "#/lib/kept";
import { overlay } from "#/lib/overlay";
import { Button } from "#/ui/Button";
import css from "./Top.module.css";

/** The head of every screen: what it is, and the tools that are the same everywhere. */
export function Top({ title, sub, children }: { title: string; sub?: ReactNode; children?: ReactNode }) {
  const hidden = amounts.use() === "hidden";
  useEffect(() => {
    document.title = `${title} · coffer`;
  }, [title]);
  return (
    <header className={css.top}>
      <h1>{title}</h1>
      {sub && <span className={`${css.sub} dim`}>{sub}</span>}
      <div className={css.tools}>
        {children}
        <span className="desk">
          <Button icon="search" keyed="Ctrl K" onClick={() => overlay.set("palette")}>
            Search or go to
          </Button>
        </span>
        <span className={children ? css.never : "phone"}>
          <Button kind="quiet" icon="search" aria-label="Search or go to" onClick={() => overlay.set("palette")} />
        </span>
        <Button
          kind="quiet"
          icon={hidden ? "shut" : "eye"}
          aria-label="Hide amounts"
          aria-pressed={hidden}
          title={hidden ? "Show amounts (.)" : "Hide amounts (.)"}
          onClick={() => amounts.set(hidden ? "shown" : "hidden")}
        />
      </div>
    </header>
  );
}
