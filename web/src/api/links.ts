import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";

export type AccountLink = Schemas["AccountLink"];
export type Pair = Schemas["AccountLinkMatch"];
export type PairSide = Schemas["AccountLinkMatchTransaction"];

/** All account links, newest first. */
export const accountLinks = queryOptions({
  queryKey: ["account-links", "list"],
  queryFn: async ({ signal }) => {
    const out: AccountLink[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await answer(
        api.GET("/api/v1/account-links", { params: { query: { limit: 500, cursor } }, signal }),
      );
      out.push(...page.account_links);
      cursor = page.next_cursor;
      more = page.has_more;
    }
    return out;
  },
  staleTime: staleAfter.short,
});

/** The pairs of transactions of an account link, newest first. */
export const pairs = (id: string, limit: number, confidence?: "auto") =>
  infiniteQueryOptions({
    queryKey: ["account-links", "pairs", id, limit, confidence],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/api/v1/account-links/{id}/matches", {
          params: {
            path: { id },
            query: { limit, ...(confidence && { confidence }), ...(pageParam ? { cursor: pageParam } : {}) },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    staleTime: staleAfter.short,
  });

type Verdict = "confirmed" | "rejected";

export const decideLink = (id: string, confidence: Verdict) =>
  api.PUT("/api/v1/account-links/{id}", { params: { path: { id } }, body: { confidence } });

/** Confirms or rejects several links as one change. */
export const decideLinks = (ids: string[], confidence: Verdict) =>
  api.POST("/api/v1/account-links/review", { body: { ids, confidence } });

/** The most links that one call can decide. */
export const maxLinks = 100;

export const decidePair = (id: string, match_id: string, confidence: Verdict) =>
  api.PUT("/api/v1/account-links/{id}/matches/{match_id}", {
    params: { path: { id, match_id } },
    body: { confidence },
  });

/** Rejects a confirmed pair: the two transactions do not belong together. */
export async function rejectPair(link: string, one: string, other: string) {
  for (let cursor: string | undefined, more = true; more; ) {
    const query = { limit: 500, confidence: "confirmed" as const, ...(cursor ? { cursor } : {}) };
    const page = await answer(api.GET("/api/v1/account-links/{id}/matches", { params: { path: { id: link }, query } }));
    const found = page.matches.find((m) =>
      [m.primary_transaction_id, m.mirror_transaction_id].every((t) => t === one || t === other),
    );
    if (found) return decidePair(link, found.id, "rejected");
    cursor = page.next_cursor;
    more = page.has_more;
  }
  throw new Error(); // someone else has decided the pair meanwhile
}
