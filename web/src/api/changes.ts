import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api, fresh, once, type Schemas } from "./client";

export type Change = Schemas["Change"];
export type Entry = Schemas["ChangeEntry"];
export type Actor = Change["actor_type"];

export const changes = (query: { actor_type?: Actor; mine?: boolean }) =>
  infiniteQueryOptions({
    queryKey: ["changes", "list", query],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/api/v1/changes", {
          params: { query: { ...query, limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    staleTime: fresh.short,
  });

/** The newest changes by anyone, for the overview. */
export const lately = queryOptions({
  queryKey: ["changes", "lately"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/changes", { params: { query: { limit: 12 } }, signal })),
  staleTime: fresh.short,
});

export const entries = (change_id: string, limit: number) =>
  queryOptions({
    queryKey: ["changes", "entries", change_id, limit],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/changes/{change_id}/entries", { params: { path: { change_id }, query: { limit } }, signal }),
      ),
    staleTime: fresh.long,
  });

export const revert = (change_id: string, dry_run = false) =>
  answer(
    api.POST("/api/v1/changes/{change_id}/revert", {
      params: { path: { change_id }, header: dry_run ? {} : once() },
      body: { dry_run },
    }),
  );
