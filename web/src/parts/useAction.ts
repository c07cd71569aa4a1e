import { useIsMutating, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "#/api/client";
import { sessionNow } from "#/api/session";
import { toasts } from "#/ui/toasts";
import { showError, undo } from "./edit";
import { askForReauth, reauthRequired, withReauth } from "./reauth";
import { undoStack } from "./undoStack";

type Action<V, R> = {
  act: (v: V) => Promise<R>;
  /** The kinds of cached data that the action may change, each by the first part of its query keys. */
  touches: readonly string[];
  /** The text of the toast after success. */
  text?: string | ((r: R, v: V) => string);
  /** The id of the change, so that the toast can undo it. */
  change?: (r: R) => string | null | undefined;
  /** Whether the server requires a fresh sign-in (x-proof in its OpenAPI document). The app then asks for it first. */
  reauth?: boolean;
  /** Whether the form shows the error itself, so that no toast is needed. */
  quiet?: boolean;
  /** The id of the record that the action removes; see useLeaving. */
  leaves?: string;
};

const leaving = (id: string | undefined) => ["leaving", id];

/** Whether a record is being removed. Its page then makes no more requests about it, because they would fail. */
export const useLeaving = (id: string | undefined) => useIsMutating({ mutationKey: leaving(id) }) > 0;

/** Whether the person was asked to sign in again and canceled. */
const declined = (e: unknown) => e instanceof ApiError && e.wantsReauth;

/** For how many milliseconds a fresh sign-in must still be valid, so that it does not expire on the way. */
const margin = 5000;

/**
 * Asks for a fresh sign-in if the server would require one. Waiting for the server's refusal would log an error in the
 * browser's console.
 */
async function ensureReauth() {
  const until = (await sessionNow()).session?.proved_until;
  if (!until || Date.parse(until) < Date.now() + margin) await askForReauth(reauthRequired());
}

/** An action on anything but transactions. It asks for a fresh sign-in if the server requires one. */
export function useAction<V = void, R = unknown>({ act, touches, text, change, reauth, quiet, leaves }: Action<V, R>) {
  const client = useQueryClient();
  return useMutation<R, Error, V>({
    ...(leaves ? { mutationKey: leaving(leaves) } : {}),
    mutationFn: async (v) => {
      if (reauth) await ensureReauth();
      return withReauth(() => act(v));
    },
    onSuccess: (r, v) => {
      const id = change?.(r);
      if (id) undoStack.did([id], false);
      const message = typeof text === "function" ? text(r, v) : text;
      if (message)
        toasts.say({ text: message, undo: id ? () => void undo(client, [id]) : undefined, of: id ? [id] : [] });
    },
    onError: (e) => {
      if (!quiet && !declined(e)) showError(e);
    },
    onSettled: () => Promise.all(touches.map((noun) => client.invalidateQueries({ queryKey: [noun] }))),
  });
}
