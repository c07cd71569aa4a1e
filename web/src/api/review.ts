import { infiniteQueryOptions } from "@tanstack/react-query";
import { answer, api, fresh, type Schemas } from "./client";

export type ReviewGroup = Schemas["ReviewGroup"];

/** What waits for a person, by payee, the largest group first. */
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
  staleTime: fresh.short,
});
