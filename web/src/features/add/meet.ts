import { ask, nothing } from "#/parts/addKnown";
import { handOver, remember, waiting, whoIs } from "#/parts/addQueue";
import { state } from "./state";

/** The person whose names the server has given since the page was opened. */
let loadedFor: string | undefined;

/** Makes the page somebody else's: nothing of the person before them stays, but the figures that were just typed. */
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
 * Asks who is signed in, and shows their names and their waiting payments. If the server cannot be asked, or nobody is
 * signed in, the page stays with the last person it knew.
 */
export async function meet() {
  const user = navigator.onLine ? await whoIs() : undefined;
  state.user = user;
  if (user && user !== state.owner) await hand(user);
  if (user && user !== loadedFor) {
    try {
      const known = await ask(user);
      if (state.owner !== user) return; // somebody else has signed in since
      state.known = { ...known, last: state.known.last };
      loadedFor = user;
      await remember(user, state.known).catch(() => {});
    } catch {
      state.user = undefined; // the names that were kept are good enough
    }
  }
  state.queue = await waiting(state.owner).catch(() => state.queue);
  if (state.shown === "form") state.refill();
}
