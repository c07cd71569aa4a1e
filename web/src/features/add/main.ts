import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { keepTexts, language, loadTexts } from "#/lib/language";
import { locale } from "#/lib/locale";
import { ask, type Known } from "#/parts/addKnown";
import { install, remember, remembered, waiting, whenever, whoIs } from "#/parts/addQueue";
import "./add.css";
import { told } from "./add";
import { el, icon } from "./dom";
import { form } from "./form";
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
  root.replaceChildren(el("div", { class: "addp" }, header(), view));
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
  const kept = (await remembered().catch(() => undefined)) as { user: string; known: Known } | undefined;
  state.queue = await waiting().catch(() => []);
  if (kept) {
    state.known = kept.known;
    state.user = kept.user;
  }
  state.draw("amount");
  state.user = await whoIs();
  if (state.user) {
    try {
      state.known = await ask(state.user);
      await remember(state.user, state.known).catch(() => {});
    } catch {
      state.user = undefined; // what was kept is good enough
    }
  }
  if (state.shown === "form") state.refill();
  const again = async () => {
    state.user = navigator.onLine ? await whoIs() : undefined;
    if (state.shown === "form") state.refill();
  };
  addEventListener("online", () => void again());
  addEventListener("offline", () => void again());
  whenever((s) => void told(s));
  void install();
}

void begin();
