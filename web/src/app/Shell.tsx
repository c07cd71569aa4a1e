import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { overview } from "#/api/overview";
import { session } from "#/api/session";
import { useKeys } from "#/lib/keys";
import { overlay } from "#/lib/overlay";
import { amounts } from "#/lib/persisted";
import { useUndoKeys } from "#/parts/edit";
import { useLiveUpdates } from "#/parts/liveUpdates";
import { TabsAt } from "#/parts/tabs";
import { unprotected } from "#/parts/unprotected";
import { Icon, Logo } from "#/ui/Icon";
import { Toasts } from "#/ui/Toasts";
import { Count, Face, useCounts } from "./Count";
import { KeysSheet } from "./KeysSheet";
import { type Entry, entries, parts, screenOf, tabsAt } from "./navigation";
import { Palette } from "./Palette";
import { ReauthDialog } from "./ReauthDialog";
import css from "./Shell.module.css";

const Adding = lazy(() => import("#/parts/Adding").then((m) => ({ default: m.Adding })));

export function Shell() {
  useLiveUpdates();
  const go = useNavigate();
  const { data } = useQuery(overview);
  const who = useQuery(session);
  useKeys({
    ...useUndoKeys(),
    ...Object.fromEntries(entries.map((s) => [`g ${s.key}`, () => void go({ to: s.to, search: {} })])),
    ".": () => amounts.set(amounts.get() === "hidden" ? "shown" : "hidden"),
    "?": () => overlay.set("keys"),
  });
  const counts = useCounts();
  const path = useLocation({ select: (l) => l.pathname });
  const here = screenOf(path);
  const link = (s: Entry) => (
    <Link
      key={s.to}
      to={s.to}
      search={{}}
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{ "aria-current": "page" }}
      aria-current={s.to === here?.to || undefined}
    >
      <Icon name={s.icon} />
      <span className={css.word}>{i18n._(s.name)}</span>
      <Count n={counts[s.to] ?? 0} quiet={s.to === "/reports"} />
    </Link>
  );
  const name = who.data?.user?.name;
  const warning = unprotected();
  return (
    <div className={css.app}>
      <a className={css.skip} href="#main">
        <Trans>Skip to content</Trans>
      </a>
      <nav className={css.side} aria-label={t`Main`}>
        <Link to="/" search={{}} className={css.brand}>
          <Logo />
          <span className={css.word}>
            <b>coffer</b>
            <span className="cut">{data?.household_name ?? " "}</span>
          </span>
        </Link>
        {parts.map((p) => (
          <div key={p.part} className={`${css.links} ${p.part === "own" ? css.own : ""}`}>
            {p.title && <h2>{i18n._(p.title)}</h2>}
            {p.screens.map(link)}
            {p.part === "own" && (
              <Link to="/me" activeProps={{ "aria-current": "page" }}>
                <Face name={name} />
                <span className={`${css.word} cut`}>{name ?? t`You`}</span>
              </Link>
            )}
          </div>
        ))}
      </nav>
      <main id="main" className={css.main} tabIndex={-1}>
        {warning && (
          <p className={css.unprotected} role="status">
            {warning}
          </p>
        )}
        <TabsAt value={tabsAt}>
          <Outlet />
        </TabsAt>
      </main>
      <nav className={css.bottom} aria-label={t`Pages`}>
        {entries.filter((s) => s.bar).map(link)}
        <Link
          to="/more"
          activeProps={{ "aria-current": "page" }}
          aria-current={path === "/me" || (here && !here.bar) || undefined}
        >
          <Icon name="menu" />
          <span className={css.word}>
            <Trans>More</Trans>
          </span>
        </Link>
      </nav>
      <Palette />
      <Suspense>
        <Adding />
      </Suspense>
      <KeysSheet />
      <ReauthDialog />
      <Toasts />
    </div>
  );
}
