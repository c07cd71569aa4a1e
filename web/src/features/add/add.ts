import { t } from "@lingui/core/macro";
import { localDay } from "#/lib/days";
import { text } from "#/lib/money";
import { typed } from "#/lib/typed";
import { drop, type Item, keep, remembered, type Sent, send, waiting } from "#/parts/addQueue";
import { currencyOf, fresh, state } from "./state";

/** Keeps what was typed, sends it, and shows what came of it. */
export async function add() {
  const n = typed(state.draft.amount);
  const to = state.draft.account || state.known.accounts[0]?.id;
  const wrong = (fault: string, focus: string) => {
    state.draft.fault = fault;
    state.draw(focus);
  };
  if (n === null || n <= 0n) return wrong(t`Enter an amount, for example 12.50.`, "amount");
  if (!state.draft.payee.trim()) return wrong(t`Enter a payee.`, "payee");
  if (!to) return wrong(t`Open this page once while you’re online, so that it knows your accounts.`, "account");
  if (state.busy) return;
  state.busy = true;
  const owner = state.user ?? ((await remembered()) as { user: string } | undefined)?.user ?? "";
  const item: Item = {
    id: crypto.randomUUID(),
    user: owner,
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
  };
  try {
    await keep(item);
  } catch {
    state.busy = false;
    return wrong(t`This browser can’t keep it. Leave private browsing and try again.`, "amount");
  }
  const first = await Promise.race([
    send().catch(() => undefined),
    new Promise<undefined>((yes) => setTimeout(yes, 4000)),
  ]);
  state.busy = false;
  state.queue = await waiting();
  const mine = state.queue.find((q) => q.id === item.id);
  if (mine?.fault) {
    await drop(item.id);
    state.queue = state.queue.filter((q) => q.id !== item.id);
    return wrong(mine.fault, "amount");
  }
  if (first?.waits) state.user = first.waits === "signed-out" ? null : undefined;
  state.draft = fresh();
  state.shown = mine ? "queue" : "done";
  state.done = { item, change: first?.done.get(item.id) ?? "" };
  state.draw();
}

/** Draws what came of sending what waited, unless somebody is busy here. */
export async function told(s: Sent) {
  if (state.busy) return;
  if (s.waits === "signed-out") state.user = null;
  const before = state.queue;
  state.queue = await waiting();
  if (state.busy || (state.queue.length === before.length && !state.queue.some((i) => i.fault))) return;
  if (state.shown === "form") state.refill();
  else if (state.shown === "queue") {
    if (!state.queue.length) state.shown = "form";
    state.draw();
  }
}
