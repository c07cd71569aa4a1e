import { infiniteQueryOptions } from "@tanstack/react-query";
import { answer, api, once, staleAfter } from "./client";
import type { operations } from "./schema";

export type PlanPage = operations["workflow-run.plan"]["responses"][200]["content"]["application/json"];
export type PlanItem = PlanPage["items"][number];
export type AppliedPlan = operations["workflow-run.apply"]["responses"][200]["content"]["application/json"];

const byId = (id: string) => ({ path: { id } });

/** A run's plan: each field with its current and planned value, then the calls that follow. */
export const plan = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["workflows", "plan", id],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/api/v1/workflow-runs/{id}/plan", {
          params: { ...byId(id), query: { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    staleTime: staleAfter.short,
  });

/** Applies a plan as one change, without the items numbered in `except`. */
export const applyPlan = (id: string, except: number[]): Promise<AppliedPlan> =>
  answer(api.POST("/api/v1/workflow-runs/{id}/apply", { params: { ...byId(id), header: once() }, body: { except } }));

export const dropPlan = (id: string) =>
  answer(api.POST("/api/v1/workflow-runs/{id}/drop", { params: { ...byId(id), header: once() } }));
