import { t } from "@lingui/core/macro";
import { useSyncExternalStore } from "react";
import { ApiError } from "#/api/client";

/** A deed that waits for someone to sign in again. */
type Waiting = { retry: () => void; giveUp: (e: unknown) => void; because: unknown };

let waiting: Waiting | null = null;
const listeners = new Set<() => void>();

function set(to: Waiting | null) {
  waiting = to;
  for (const f of listeners) f();
}

export const proof = {
  use: () =>
    useSyncExternalStore(
      (f) => {
        listeners.add(f);
        return () => listeners.delete(f);
      },
      () => waiting !== null,
    ),
  given() {
    const w = waiting;
    set(null);
    w?.retry();
  },
  refused() {
    const w = waiting;
    set(null);
    w?.giveUp(w.because);
  },
};

/** Waits until somebody has signed in again; fails with `because` if they prefer not to. */
export const askForProof = (because: unknown) => new Promise<void>((retry, giveUp) => set({ retry, giveUp, because }));

/** The error if nobody signs in again. */
export const unproven = () => new ApiError(403, "PROOF_REQUIRED", t`sign in again to do this`);

/** Does something; if it needs a fresh sign-in, asks for one and does it once more. */
export async function proven<T>(deed: () => Promise<T>): Promise<T> {
  try {
    return await deed();
  } catch (e) {
    if (!(e instanceof ApiError && e.wantsProof)) throw e;
    await askForProof(e);
    return deed();
  }
}
