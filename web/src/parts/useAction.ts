import { useIsMutating, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiError } from "#/api/client";
import { sessionNow } from "#/api/session";
import { toasts } from "#/ui/toasts";
import { showError, undo } from "./edit";
import { askForReauth, reauthRequired, withReauth } from "./reauth";
import { undoStack } from "./undoStack";

type Action<V, R> = {
  act: (v: V) => Promise<R>;
  /** The nouns whose data may have changed. */
  touches: readonly string[];
  /** The text of the toast. */
  text?: string | ((r: R, v: V) => string);
  /** The change that would undo it. */
  change?: (r: R) => string | null | undefined;
  /** Whether the server wants a fresh sign-in for it (x-proof in its document), so that one is asked for first. */
  reauth?: boolean;
  /** The form says what is wrong, so that no toast needs to. */
  quiet?: boolean;
  /** The id of what is gone afterwards; see useLeaving. */
  leaves?: string;
};

const leaving = (id: string | undefined) => ["leaving", id];

/** Whether a record is being removed. Its page then makes no more requests about it, because they would fail. */
export const useLeaving = (id: string | undefined) => useIsMutating({ mutationKey: leaving(id) }) > 0;

/** Whether somebody was asked to sign in again and preferred not to. */
const declined = (e: unknown) => e instanceof ApiError && e.wantsReauth;

/** How long a fresh sign-in must still count, so that it does not run out on the way. */
const margin = 5000;

/** Asks for a fresh sign-in now if the server would, because a refused call is an error in the browser's log. */
async function ensureReauth() {
  const until = (await sessionNow()).session?.proved_until;
  if (!until || Date.parse(until) < Date.now() + margin) await askForReauth(reauthRequired());
}

/** Something that is done to the household and not to its payments; asks for a fresh sign-in where it must. */
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
