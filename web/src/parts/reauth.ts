import { t } from "@lingui/core/macro";
import { useSyncExternalStore } from "react";
import { ApiError } from "#/api/client";

/** An action that waits for someone to sign in again. */
type Waiting = { retry: () => void; giveUp: (e: unknown) => void; because: unknown };

let waiting: Waiting | null = null;
const listeners = new Set<() => void>();

function set(to: Waiting | null) {
  waiting = to;
  for (const f of listeners) f();
}

export const reauth = {
  use: () =>
    useSyncExternalStore(
      (f) => {
        listeners.add(f);
        return () => listeners.delete(f);
      },
      () => waiting !== null,
    ),
  confirm() {
    const w = waiting;
    set(null);
    w?.retry();
  },
  cancel() {
    const w = waiting;
    set(null);
    w?.giveUp(w.because);
  },
};

/** Waits until the person has signed in again. Rejects with `because` if they cancel. */
export const askForReauth = (because: unknown) => new Promise<void>((retry, giveUp) => set({ retry, giveUp, because }));

/** The error if the person does not sign in again. */
export const reauthRequired = () => new ApiError(403, "PROOF_REQUIRED", t`sign in again to do this`);

/** Runs an action. If the action needs a fresh sign-in, asks for one and runs it again. */
export async function withReauth<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (e) {
    if (!(e instanceof ApiError && e.wantsReauth)) throw e;
    await askForReauth(e);
    return action();
  }
}
