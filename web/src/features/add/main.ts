import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { keepTexts, language, loadTexts } from "#/lib/language";
import { locale } from "#/lib/locale";
import { install, remembered, whenever, whoIs } from "#/parts/addQueue";
import { unprotected } from "#/parts/unprotected";
import "./add.css";
import { onSent } from "./add";
import { el, icon } from "./dom";
import { form } from "./form";
import { meet } from "./meet";
import { queued, success } from "./sent";
import { back, state } from "./state";

const root = document.getElementById("root") as HTMLElement;

function header() {
  return el(
    "header",
    { class: "bar" },
    el("a", { class: "ico", href: back, "aria-label": t`Close` }, icon("close")),
    el("h1", {}, t`Add transaction`),
    el("span", { class: "ico" }),
  );
}

function draw(focus?: string) {
  document.title = `${t`Add transaction`} · coffer`;
  const view = state.shown === "form" ? form() : state.shown === "done" && state.done ? success(state.done) : queued();
  const warning = unprotected();
  const notice = warning ? [el("p", { class: "unprotected", role: "status" }, warning)] : [];
  root.replaceChildren(el("div", { class: "addp" }, header(), ...notice, view));
  if (focus) document.getElementById(focus)?.focus();
}

async function begin() {
  state.draw = draw;
  document.documentElement.lang = language;
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  i18n.loadAndActivate({ locale: language, locales: locale, messages: {} });
  keepTexts((m) => i18n.load(language, m));
  await loadTexts("add");
  const stored = await remembered().catch(() => undefined);
  if (stored) {
    state.known = stored.known;
    state.user = state.owner = stored.user;
  }
  state.draw("amount");
  await meet();
  addEventListener("online", () => void meet());
  addEventListener("offline", () => void meet());
  document.addEventListener("visibilitychange", async () => {
    if (document.visibilityState !== "visible") return;
    const user = await whoIs(); // someone else may have signed in in another tab
    if (user && user !== state.owner) await meet();
  });
  whenever((s) => void onSent(s));
  void install();
}

void begin();
