import { plural, t } from "@lingui/core/macro";
import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { revertThese } from "#/api/changes";
import { ApiError } from "#/api/client";
import { type CloseGroup, closeReviews } from "#/api/review";
import { type BulkBody, bulk, maxOperations, type Operation, type Row, update } from "#/api/transactions";
import { toasts } from "#/ui/toasts";
import { hasConflict, recentEdits } from "./conflicts";
import { refusal, sentence } from "./refusals";
import { undoStack } from "./undoStack";

export { sentence };

type Edit = {
  operations: Operation[];
  /** The text of the toast after success. */
  text: string;
  /** How a row will look; the list shows this before the server responds. */
  paint?: (r: Row) => Row;
  /**
   * The categories that the screen showed, by transaction. If someone else has changed one since, nothing is written.
   */
  shown?: ReadonlyMap<string, string | null>;
};

const isRows = (v: unknown): v is Row[] => Array.isArray(v);

/** Changes single transactions. The list shows the result at once, and the toast can undo it. */
export function useEdit() {
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: async ({ shown, ...edit }: Edit) => {
      const { operations } = edit;
      if (shown && (await hasConflict(client, shown, () => mutation.mutate(edit)))) return [];
      const done: Awaited<ReturnType<typeof update>>[] = [];
      for (let i = 0; i < operations.length; i += maxOperations)
        done.push(await update(operations.slice(i, i + maxOperations)));
      return done;
    },
    onMutate: ({ operations, paint }) => {
      const before = client.getQueriesData({ queryKey: ["transactions", "rows"] });
      const ids = new Set(operations.map((o) => o.transaction_id));
      if (paint)
        client.setQueriesData({ queryKey: ["transactions", "rows"] }, (rows: unknown) =>
          isRows(rows) ? rows.map((r) => (ids.has(r.id) ? paint(r) : r)) : rows,
        );
      return { before };
    },
    onError: (e, _, context) => {
      for (const [key, rows] of context?.before ?? []) client.setQueryData(key, rows);
      showError(e);
    },
    onSuccess: (answers, { text, operations }) => {
      if (!answers.length) return;
      const results = answers.flatMap((a) => a.results);
      const refused = results.filter((r) => r.status === "error" || r.status === "held").length;
      for (const o of operations) if (o.category !== undefined) recentEdits.set(o.transaction_id, o.category);
      done(client, {
        text,
        note: refused
          ? plural(refused, { one: "# transaction not changed", other: "# transactions not changed" })
          : undefined,
        ids: answers.flatMap((a) => (a.change_id ? [a.change_id] : [])),
      });
    },
    onSettled: () => settle(client),
  });
  return mutation;
}

/** Changes all transactions that match a filter, or all selected ones, as one change. */
export function useBulk() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ body }: { body: BulkBody; text: string }) => bulk(body),
    onError: (e) => {
      // A conflict means that the number of matching transactions has changed. The caller then asks the person again.
      if (!(e instanceof ApiError && e.code === "CONFLICT")) showError(e);
    },
    onSuccess: (r, { text }) => {
      const left = [
        r.held
          ? plural(r.held, {
              one: "# transaction is locked and was not changed",
              other: "# transactions are locked and were not changed",
            })
          : "",
        r.pending_left
          ? plural(r.pending_left, {
              one: "# transaction is pending and was not changed",
              other: "# transactions are pending and were not changed",
            })
          : "",
      ];
      done(client, { text, note: left.filter(Boolean).join(". "), ids: r.change_id ? [r.change_id] : [] });
    },
    onSettled: () => settle(client),
  });
}

/** Closes the reviews of several payees as one change. */
export function useCloseReviews() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ groups }: { groups: CloseGroup[]; text: string }) => closeReviews(groups),
    onError: (e) => {
      if (!(e instanceof ApiError && e.code === "CONFLICT")) showError(e);
    },
    onSuccess: (r, { text }) => done(client, { text, ids: r.change_id ? [r.change_id] : [] }),
    onSettled: () => settle(client),
  });
}

function done(client: QueryClient, d: { text: string; note?: string; ids: string[] }) {
  undoStack.did(d.ids);
  toasts.say({
    text: d.text,
    note: d.note || undefined,
    undo: d.ids.length ? () => void undo(client, d.ids) : undefined,
    of: d.ids,
  });
}

/** Requests the data again that an edit may have changed. */
export const settle = (client: QueryClient) =>
  Promise.all(
    [
      ["transactions"],
      ["review"],
      ["overview"],
      ["rules"],
      ["account-links"],
      ["accounts"],
      ["connections"],
      ["sync", "logs"],
      ["targets"],
      ["recurring"],
      ["findings"],
      ["payees"],
      ["counterparties"],
      ["changes", "list"],
      ["changes", "recent"],
    ].map((queryKey) => client.invalidateQueries({ queryKey })),
  );

/**
 * Undoes changes, newest first, and shows how many fields were not undone. Undoing a revert is a redo. Returns whether
 * it succeeded, for callers that show a message of their own.
 */
export async function undo(
  client: QueryClient,
  ids: string[],
  text = t`Undone`,
  then?: () => Promise<unknown>,
): Promise<boolean> {
  let all = true;
  try {
    const r = await revertThese(ids, () =>
      toasts.say({ text: t`Undoing…`, note: t`This may take a moment. You can leave this page.` }),
    );
    const stayed = Object.values(r.skipped_by_reason).reduce((n, k) => n + k, 0);
    const backs = r.results.flatMap((x) => (x.revert_id ? [x.revert_id] : []));
    undoStack.undid(ids, backs);
    recentEdits.clear();
    toasts.say({
      text,
      note: stayed
        ? plural(stayed, {
            one: "# change not undone: changed since or locked",
            other: "# changes not undone: changed since or locked",
          })
        : undefined,
      undo: backs.length ? () => void undo(client, backs, t`Redone`) : undefined,
      of: backs,
    });
    await then?.(); // leaves a screen whose record is removed, before its data is requested again
  } catch (e) {
    all = false;
    showError(e);
  }
  await settle(client);
  return all;
}

/** The keys that undo and redo the member's own last change. */
export function useUndoKeys() {
  const client = useQueryClient();
  return {
    z: () => {
      const last = undoStack.last();
      if (!last) return toasts.say({ text: t`Nothing to undo. See Activity for earlier changes.` });
      toasts.dropOf(last);
      void undo(client, last);
    },
    Z: () => {
      const next = undoStack.next();
      if (!next) return toasts.say({ text: t`Nothing to redo.` });
      toasts.dropOf(next);
      void undo(client, next, t`Redone`);
    },
  };
}

/** Whether the response to a call was lost. Then the write may have been made or not. */
const lost = (e: unknown) => (e instanceof ApiError ? e.code === "UNKNOWN" && e.status >= 502 : e instanceof TypeError);

/** Why a write failed. If the response was lost, the text does not claim that nothing was changed. */
export function failure(e: unknown): string {
  if (!lost(e) && e instanceof ApiError) return refusal(e);
  if (!lost(e) && e instanceof Error && e.message) return sentence(e.message);
  return t`Can’t reach the server. Your change may not have been saved. Check before you try again.`;
}

/** Shows why a write failed, with the request id by which to find it in the server's log. */
export function showError(e: unknown) {
  const note = e instanceof ApiError && e.request ? t`Request ID ${{ id: e.request }}` : undefined;
  toasts.say({ bad: true, text: failure(e), note });
}
