import { type QueryClient, useMutation, useQueryClient } from "@tanstack/react-query";
import { revert } from "#/api/changes";
import { ApiError } from "#/api/client";
import { most, type Operation, type Row, update } from "#/api/transactions";
import { toasts } from "#/ui/toasts";

type Edit = {
  operations: Operation[];
  /** What the toast says once it is done. */
  said: string;
  /** How a row will look, painted before the server answers. */
  paint?: (r: Row) => Row;
};

const isRows = (v: unknown): v is Row[] => Array.isArray(v);

/** The one way to change transactions: seen at once, and taken back by the change that it answers. */
export function useEdit() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ operations }: Edit) => {
      const done: Awaited<ReturnType<typeof update>>[] = [];
      for (let i = 0; i < operations.length; i += most) done.push(await update(operations.slice(i, i + most)));
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
    onError: (e, _, kept) => {
      for (const [key, rows] of kept?.before ?? []) client.setQueryData(key, rows);
      sorry(e);
    },
    onSuccess: (answers, { said }) => {
      const results = answers.flatMap((a) => a.results);
      const refused = results.filter((r) => r.status === "error" || r.status === "held").length;
      const ids = answers.flatMap((a) => (a.change_id ? [a.change_id] : []));
      toasts.say({
        text: said,
        note: refused ? `${refused} stayed as they were` : undefined,
        undo: ids.length ? () => void undo(client, ids) : undefined,
      });
    },
    onSettled: () => settle(client),
  });
}

/** Asks anew for what an edit may have touched. */
export const settle = (client: QueryClient) =>
  Promise.all(
    [["transactions"], ["overview"], ["changes", "list"], ["changes", "lately"]].map((queryKey) =>
      client.invalidateQueries({ queryKey }),
    ),
  );

/** Takes changes back, newest first, and says what stayed. */
export async function undo(client: QueryClient, ids: string[]) {
  try {
    let stayed = 0;
    const backs: string[] = [];
    for (const id of ids.toReversed()) {
      const r = await revert(id);
      stayed += r.skipped.length;
      if (r.change) backs.push(r.change.id);
    }
    toasts.say({
      text: "Taken back",
      note: stayed ? `${stayed} stayed, because they were changed since or are held` : undefined,
      undo: backs.length ? () => void undo(client, backs) : undefined,
    });
  } catch (e) {
    sorry(e);
  }
  await settle(client);
}

/** Says what could not be done, and under which id the log has more. */
export function sorry(e: unknown) {
  const refused = e instanceof ApiError;
  toasts.say({
    bad: true,
    text: refused ? sentence(e.message) : "The server did not answer. Nothing was changed.",
    note: refused && e.request ? `Request ${e.request}` : undefined,
  });
}

export const sentence = (s: string) => `${s.charAt(0).toUpperCase()}${s.slice(1).replace(/\.$/, "")}.`;
