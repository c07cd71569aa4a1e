import { infiniteQueryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type ReviewGroup = Schemas["ReviewGroup"];

export type CloseGroup = Schemas["ReviewCloseGroup"];

/** The most payees whose reviews one call closes. */
export const maxPayees = 500;

/** Closes the reviews of several payees as one change: all of them or none. */
export const closeReviews = (groups: CloseGroup[]) =>
  answer(api.POST("/api/v1/review/close", { params: { header: once() }, body: { groups } }));

/** Transactions that wait for review, by payee, the largest group first. */
export const reviewGroups = infiniteQueryOptions({
  queryKey: ["review", "groups"],
  queryFn: ({ pageParam, signal }) =>
    answer(
      api.GET("/api/v1/review/groups", {
        params: { query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } },
        signal,
      }),
    ),
  initialPageParam: "",
  getNextPageParam: (last) => last.next_cursor || undefined,
  staleTime: staleAfter.short,
});
