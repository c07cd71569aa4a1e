import { t } from "@lingui/core/macro";
import { localDay } from "#/lib/days";
import { text } from "#/lib/money";
import { typed } from "#/lib/typed";
import { usual } from "#/parts/addKnown";
import { drop, type Item, keep, remember, type Sent, send, waiting } from "#/parts/addQueue";
import { meet } from "./meet";
import { currencyOf, emptyDraft, state } from "./state";

/** Shows an error at the field that caused it, or at the amount if no field did. */
function wrong(fault: string, at: typeof state.draft.at) {
  state.draft.fault = fault;
  state.draft.at = at;
  state.draw(at || "amount");
}

/** Queues the typed transaction, sends it, and shows the result. */
export async function add() {
  const n = typed(state.draft.amount);
  const to = state.draft.account || usual(state.known)?.id;
  if (n === null || n <= 0n) return wrong(t`Enter an amount, for example 12.50.`, "amount");
  if (!state.draft.payee.trim()) return wrong(t`Enter a payee.`, "payee");
  // Without an owner, nobody could send it later. So it is not queued.
  if (!to || !state.owner)
    return wrong(t`Open this page once while you’re online, so that it knows your accounts.`, "account");
  if (state.busy) return;
  state.busy = true;
  try {
    await deliver({
      id: crypto.randomUUID(),
      user: state.owner,
      at: Date.now(),
      currency: currencyOf(),
      body: {
        account_id: to,
        amount: Number(text(state.draft.way === "in" ? -n : n)),
        date: state.draft.date || localDay(new Date()),
        payee: state.draft.payee.trim(),
        ...(state.draft.category && { category: state.draft.category }),
        ...(state.draft.memo.trim() && { detail: state.draft.memo.trim() }),
      },
    });
  } finally {
    state.busy = false;
  }
}

async function deliver(item: Item) {
  try {
    await keep(item);
  } catch {
    return wrong(t`This browser can’t keep it. Leave private browsing and try again.`, "");
  }
  const first = await Promise.race([
    send().catch(() => undefined),
    new Promise<undefined>((yes) => setTimeout(yes, 4000)),
  ]);
  if ((first?.user ?? state.owner) !== item.user) {
    // Someone else has signed in meanwhile. The text stays in the form, so that they can add it to one of their
    // accounts.
    await drop(item.id);
    void meet();
    return;
  }
  const left = await waiting(item.user).catch(() => (first?.done.has(item.id) ? [] : [item]));
  const queued = left.find((q) => q.id === item.id);
  if (queued?.fault) {
    await drop(item.id);
    state.queue = left.filter((q) => q.id !== item.id);
    return wrong(queued.fault, "");
  }
  state.queue = left;
  state.known = { ...state.known, last: item.body.account_id };
  await remember(item.user, state.known).catch(() => {});
  if (first?.waits) state.user = first.waits === "signed-out" ? null : undefined;
  state.draft = emptyDraft();
  state.shown = queued ? "queue" : "done";
  state.done = { item, change: first?.done.get(item.id) ?? "" };
  state.draw();
}

/** Shows the result of sending queued transactions, unless a transaction is being added right now. */
export async function onSent(s: Sent) {
  if (state.busy) return;
  if (s.user && s.user !== state.owner) return meet();
  if (s.waits === "signed-out") state.user = null;
  const before = state.queue;
  state.queue = await waiting(state.owner).catch(() => before);
  if (state.busy || (state.queue.length === before.length && !state.queue.some((i) => i.fault))) return;
  if (state.shown === "form") state.refill();
  else if (state.shown === "queue") {
    if (!state.queue.length) state.shown = "form";
    state.draw();
  }
}
