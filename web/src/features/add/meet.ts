import { ask, nothing } from "#/parts/addKnown";
import { handOver, remember, waiting, whoIs } from "#/parts/addQueue";
import { state } from "./state";

/** The member whose accounts and payees the server has sent since the page was opened. */
let loadedFor: string | undefined;

/**
 * Hands the page over to another member. It removes all data of the previous one, except the values that were just
 * typed.
 */
async function hand(user: string) {
  state.owner = user;
  state.known = nothing();
  state.queue = [];
  state.done = undefined;
  state.draft = { ...state.draft, account: "", category: "", chose: { category: false, account: false } };
  if (state.shown !== "form") {
    state.shown = "form";
    state.draw();
  }
  await handOver(user).catch(() => {});
}

/**
 * Asks who is signed in, and loads their accounts, payees and waiting transactions. If the server does not respond or
 * nobody is signed in, the page keeps the last member.
 */
export async function meet() {
  const user = navigator.onLine ? await whoIs() : undefined;
  state.user = user;
  if (user && user !== state.owner) await hand(user);
  if (user && user !== loadedFor) {
    try {
      const known = await ask(user);
      if (state.owner !== user) return; // someone else has signed in meanwhile
      state.known = { ...known, last: state.known.last };
      loadedFor = user;
      await remember(user, state.known).catch(() => {});
    } catch {
      state.user = undefined; // the stored data is used instead
    }
  }
  state.queue = await waiting(state.owner).catch(() => state.queue);
  if (state.shown === "form") state.refill();
}
