import { plural, t } from "@lingui/core/macro";
import { locale } from "#/lib/locale";
import { abs, cents, text } from "#/lib/money";
import { type Body, drop, type Item, waiting } from "#/parts/addQueue";
import { el, icon } from "./dom";
import { back, emptyDraft, shownAmount, state } from "./state";

const offline = () => !navigator.onLine || state.user === undefined;

export function strip() {
  if (state.user === null)
    return el(
      "p",
      { class: "strip", role: "status" },
      icon("offline"),
      el(
        "span",
        {},
        t`You’re signed out. coffer keeps this on your device until you sign in.`,
        " ",
        el("a", { class: "link", href: `/login?next=${encodeURIComponent("/add")}` }, t`Sign in`),
      ),
    );
  if (!offline()) return null;
  return el(
    "p",
    { class: "strip", role: "status" },
    icon("offline"),
    el("span", {}, t`You’re offline. coffer keeps this on your device and sends it once when you’re back.`),
  );
}

const nameOf = (id: string) => state.known.accounts.find((a) => a.id === id)?.name ?? "";
const categoryOf = (slug?: string) =>
  state.known.categories.flatMap((c) => [c, ...c.children]).find((c) => c.slug === slug)?.name ?? "";

/** The form as it was when this transaction was added. The payee does not fill in anything again. */
export const draftOf = (b: Body): typeof state.draft => ({
  ...emptyDraft(),
  amount: text(abs(cents(b.amount))),
  way: b.amount < 0 ? "in" : "out",
  payee: b.payee,
  category: b.category ?? "",
  account: b.account_id,
  date: b.date,
  memo: b.detail ?? "",
  chose: { category: true, account: true },
});

export function success({ item, change }: { item: Item; change: string }) {
  const facts = [categoryOf(item.body.category), nameOf(item.body.account_id)].filter(Boolean).join(" · ");
  const undo = el("button", { class: "btn", type: "button" }, icon("undo"), t`Undo`);
  const fault = el("p", { class: "fault", role: "alert" });
  undo.addEventListener("click", async () => {
    undo.disabled = true;
    fault.textContent = "";
    const r = await fetch(`/api/v1/changes/${change}/revert`, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
      body: "{}",
    }).catch(() => undefined);
    if (!r?.ok) {
      undo.disabled = false;
      fault.textContent = t`Can’t undo right now. Try again, or undo it in Activity.`;
      return;
    }
    if (state.done?.item !== item || state.shown !== "done") return; // the form is already in use again
    state.draft = draftOf(item.body);
    state.shown = "form";
    state.draw("amount");
  });
  return el(
    "main",
    { class: "box" },
    el(
      "div",
      { class: "donebox", role: "status" },
      el("span", { class: "art" }, icon("check")),
      el("h2", {}, t`${{ payee: item.body.payee }} added`),
      el("p", { class: "fig" }, shownAmount(item.body.amount, item.currency)),
      facts && el("p", {}, facts),
      el("p", { class: "dim" }, t`When the bank’s version arrives, coffer matches the two and counts them once.`),
    ),
    state.queue.length > 0 && waitingList(),
    fault,
    el("div", { class: "go two" }, change ? undo : el("a", { class: "btn", href: back }, t`Done`), another()),
  );
}

function another() {
  const b = el("button", { class: "btn pri", type: "button" }, icon("plus"), t`Add another`);
  b.addEventListener("click", () => {
    state.shown = "form";
    state.draw("amount");
  });
  return b;
}

export function waitingList() {
  const at = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return el(
    "section",
    { class: "card" },
    el("h2", {}, t`Not sent yet`, el("span", { class: "end" }, String(state.queue.length))),
    el(
      "ul",
      {},
      ...state.queue.map((i) => {
        const remove = el("button", { class: "btn", type: "button" }, t`Remove`);
        remove.addEventListener("click", async () => {
          await drop(i.id);
          state.queue = await waiting(state.owner);
          if (!state.queue.length && state.shown === "queue") state.shown = "form";
          state.draw();
        });
        return el(
          "li",
          {},
          el(
            "span",
            { class: "what" },
            el("span", { class: "mid" }, i.body.payee),
            el("span", { class: i.fault ? "fault" : "dim" }, i.fault ?? t`${{ time: at.format(i.at) }} · waiting`),
          ),
          el("span", { class: "num" }, shownAmount(i.body.amount, i.currency)),
          i.fault && remove,
        );
      }),
    ),
  );
}

export function queued() {
  const n = state.queue.length;
  return el(
    "main",
    { class: "box" },
    el(
      "div",
      { class: "donebox", role: "status" },
      el("span", { class: "art q" }, icon("clock")),
      el("h2", {}, t`Waiting to send`),
      el(
        "p",
        {},
        plural(n, {
          one: "# transaction is kept on this device and will be sent once.",
          other: "# transactions are kept on this device and will be sent once, in order.",
        }),
      ),
    ),
    state.user === null && strip(),
    n > 0 && waitingList(),
    el("div", { class: "go two" }, el("a", { class: "btn", href: back }, t`Done`), another()),
  );
}
