import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { session } from "#/api/session";
import { amounts } from "#/lib/kept";
import { useKeys } from "#/lib/keys";
import { overlay } from "#/lib/overlay";
import { Icon, Logo } from "#/ui/Icon";
import { Toasts } from "#/ui/Toasts";
import { KeysSheet } from "./KeysSheet";
import { More } from "./More";
import { Palette } from "./Palette";
import { Proof } from "./Proof";
import css from "./Shell.module.css";
import { screens } from "./screens";

export function Shell() {
  const go = useNavigate();
  const { data } = useQuery(overview);
  const who = useQuery(session);
  useKeys({
    ...Object.fromEntries(screens.map((s) => [`g ${s.key}`, () => void go({ to: s.to, search: {} })])),
    ".": () => amounts.set(amounts.get() === "hidden" ? "shown" : "hidden"),
    "?": () => overlay.set("keys"),
  });
  const waiting = data?.review.count ?? 0;
  const links = screens.map((s) => (
    <Link
      key={s.to}
      to={s.to}
      search={{}}
      activeOptions={{ exact: s.to === "/", includeSearch: false }}
      activeProps={{ "aria-current": "page" }}
    >
      <Icon name={s.icon} />
      <span className={css.word}>{s.name}</span>
      {s.to === "/review" && waiting > 0 && (
        <span className={css.count}>
          <span className="sr">, waiting: </span>
          {waiting > 999 ? "999+" : waiting}
        </span>
      )}
    </Link>
  ));
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
        <div className={css.links}>{links}</div>
        <div className={css.me}>
          <button type="button" onClick={() => overlay.set("more")}>
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
        {links}
        <button type="button" onClick={() => overlay.set("more")}>
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
