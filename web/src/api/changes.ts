import { t } from "@lingui/core/macro";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { ApiError, answer, api, once, type Schemas, staleAfter } from "./client";
import { jobEnd } from "./jobs";

export type Change = Schemas["Change"];
export type Entry = Schemas["ChangeEntry"];
export type Actor = Change["actor_type"];

export type ChangeFilters = {
  actor_type?: Actor;
  actor_id?: string;
  mine?: boolean;
  cause?: Change["cause"];
  rule_id?: string;
  transaction_id?: string;
};

export const changes = (query: ChangeFilters) =>
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
    staleTime: staleAfter.short,
  });

/** The newest changes by anyone, for the overview. */
export const recentChanges = queryOptions({
  queryKey: ["changes", "recent"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/changes", { params: { query: { limit: 12 } }, signal })),
  staleTime: staleAfter.short,
});

export const entries = (change_id: string, limit: number) =>
  queryOptions({
    queryKey: ["changes", "entries", change_id, limit],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/changes/{change_id}/entries", { params: { path: { change_id }, query: { limit } }, signal }),
      ),
    staleTime: staleAfter.long,
  });

/** Returns the fields that undoing a change would restore, and the fields that would not change. */
export const rehearseRevert = (change_id: string) =>
  answer(api.POST("/api/v1/changes/{change_id}/revert", { params: { path: { change_id } }, body: { dry_run: true } }));

/** Undoes changes, newest first. A job undoes very large changes: `waits` is called, and then the job is awaited. */
export async function revertThese(change_ids: string[], waits: () => void): Promise<Schemas["ChangesReverted"]> {
  const r = await answer(
    api.POST("/api/v1/changes/revert", { params: { header: once() }, body: { change_ids, dry_run: false } }),
  );
  if (!r.job_id) return r;
  waits();
  const j = await jobEnd(r.job_id);
  if (j.state !== "succeeded")
    throw new ApiError(500, j.error?.code ?? "UNKNOWN", j.error?.message ?? t`it was stopped`);
  return j.result as Schemas["ChangesReverted"];
}

type Whose = { actor_id: string; since: string; until?: string; keep: Keep };

/** "reviewed": an undo skips transactions whose review a person has closed since. "none": it skips none of them. */
export type Keep = "reviewed" | "none";

/**
 * Undoes all changes by someone in a period, newest first. A dry run returns the fields that would not change, and why.
 */
export const revertAll = (whose: Whose, dry_run: boolean) =>
  answer(
    api.POST("/api/v1/changes/revert", {
      params: { header: dry_run ? {} : once() },
      body: { ...whose, dry_run },
    }),
  );

export type Skipped = Schemas["ChangeSkipped"];

/** A write that the journal recorded, and the change that undoes it. */
export type Recorded<T> = { data: T; change: string | null };

/** Makes a write, and returns its result with the id of its change. */
export async function recorded<T>(call: Promise<{ data?: T; response: Response }>): Promise<Recorded<T>> {
  const { data, response } = await call;
  return { data: data as T, change: response.headers.get("Coffer-Change") || null };
}

/** Changes by imports, newest first. */
export const imports = queryOptions({
  queryKey: ["changes", "list", "imports"],
  queryFn: ({ signal }) =>
    answer(api.GET("/api/v1/changes", { params: { query: { cause: "import", limit: 20 } }, signal })),
  staleTime: staleAfter.short,
});
