import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { session } from "#/api/session";
import { amounts } from "#/lib/kept";
import { useKeys } from "#/lib/keys";
import { overlay } from "#/lib/overlay";
import { useNews } from "#/parts/news";
import { Icon, Logo } from "#/ui/Icon";
import { Toasts } from "#/ui/Toasts";
import { KeysSheet } from "./KeysSheet";
import { More } from "./More";
import { Palette } from "./Palette";
import { Proof } from "./Proof";
import css from "./Shell.module.css";
import { screenOf, screensFor } from "./screens";

export function Shell() {
  useNews();
  const go = useNavigate();
  const { data } = useQuery(overview);
  const who = useQuery(session);
  const screens = screensFor(who.data?.user?.role);
  useKeys({
    ...Object.fromEntries(screens.map((s) => [`g ${s.key}`, () => void go({ to: s.to, search: {} })])),
    ".": () => amounts.set(amounts.get() === "hidden" ? "shown" : "hidden"),
    "?": () => overlay.set("keys"),
  });
  const counts: Record<string, number | undefined> = {
    "/review": data?.review.count,
    "/reports": data?.unread_reports,
  };
  const path = useLocation({ select: (l) => l.pathname });
  const here = screenOf(path);
  const mine = path === "/me" ? "page" : undefined;
  const link = (s: (typeof screens)[number]) => (
    <Link
      key={s.to}
      to={s.to}
      search={{}}
      activeOptions={{ exact: true, includeSearch: false }}
      activeProps={{ "aria-current": "page" }}
      aria-current={s.to === here?.to || undefined}
    >
      <Icon name={s.icon} />
      <span className={css.word}>{s.name}</span>
      <Count n={counts[s.to] ?? 0} />
    </Link>
  );
  const name = who.data?.user?.name;
  return (
    <div className={css.app}>
      <a className={css.skip} href="#main">
        Skip to the content
      </a>
      <nav className={css.side} aria-label="Main">
        <Link to="/" search={{}} className={css.brand}>
          <Logo />
          <span className={css.word}>
            <b>coffer</b>
            <span className="cut">{data?.household_name ?? " "}</span>
          </span>
        </Link>
        <div className={css.links}>
          {[0, 1, 2].map((part) => (
            <div key={part}>{screens.filter((s) => s.part === part).map(link)}</div>
          ))}
        </div>
        <div className={css.me}>
          <button type="button" aria-current={mine} onClick={() => overlay.set("more")}>
            <span className={css.face} aria-hidden="true">
              {name ? [...name][0]?.toUpperCase() : "·"}
            </span>
            <span className={`${css.word} cut`}>{name ?? "You"}</span>
          </button>
        </div>
      </nav>
      <main id="main" className={css.main} tabIndex={-1}>
        <Outlet />
      </main>
      <nav className={css.bottom} aria-label="Screens">
        {screens.filter((s) => s.bar).map(link)}
        <button
          type="button"
          aria-current={mine ?? (here !== undefined && !here.bar)}
          onClick={() => overlay.set("more")}
        >
          <Icon name="menu" />
          <span className={css.word}>More</span>
        </button>
      </nav>
      <Palette />
      <KeysSheet />
      <More />
      <Proof />
      <Toasts />
    </div>
  );
}

function Count({ n }: { n: number }) {
  if (n === 0) return null;
  return (
    <span className={css.count}>
      <span className="sr">, waiting: </span>
      {n > 999 ? "999+" : n}
    </span>
  );
}
