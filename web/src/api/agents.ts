import { queryOptions } from "@tanstack/react-query";
import { answer, api, staleAfter } from "./client";

/** Counts the changes by a key or assistant since a day; `more` is set if there were too many to count. */
export const didSince = (actor_id: string, since: string) =>
  queryOptions({
    queryKey: ["changes", "did", actor_id, since],
    queryFn: async ({ signal }) => {
      const page = await answer(
        api.GET("/api/v1/changes", { params: { query: { actor_id, since, limit: 200 } }, signal }),
      );
      const changes = page.changes.filter((c) => c.cause !== "revert");
      return {
        changes: changes.length,
        payments: changes.reduce((n, c) => n + c.transactions, 0),
        undone: changes.filter((c) => c.reverted_by !== null).length,
        more: page.has_more,
      };
    },
    staleTime: staleAfter.short,
  });
