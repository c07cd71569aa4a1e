import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type Rule = Schemas["Rule"];
export type RuleSpec = Schemas["RuleSpec"];
export type RulePatch = Schemas["PatchRule"];
export type Action = Schemas["RuleAction"];
export type Condition = Rule["conditions"];

const byId = (id: string) => ({ path: { id } });

/** All rules, in the order in which they run. */
export const rules = queryOptions({
  queryKey: ["rules", "list"],
  queryFn: async ({ signal }) => {
    const out: Rule[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await answer(
        api.GET("/api/v1/rules", { params: { query: { fields: "all", limit: 500, cursor } }, signal }),
      );
      out.push(...(page.rules as Rule[]));
      cursor = page.next_cursor;
      more = page.has_more;
    }
    return out;
  },
  staleTime: staleAfter.short,
});

export const rule = (id: string) =>
  queryOptions({
    queryKey: ["rules", "one", id],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/rules/{id}", { params: byId(id), signal })) as Promise<Rule>,
    staleTime: staleAfter.short,
  });

export const createRule = (spec: RuleSpec) =>
  api.POST("/api/v1/rules", { params: { header: once() }, body: { rules: [spec] } });

export const patchRule = (id: string, body: RulePatch) => api.PATCH("/api/v1/rules/{id}", { params: byId(id), body });

export const deleteRule = (id: string) => api.DELETE("/api/v1/rules/{id}", { params: byId(id) });

/**
 * Applies a saved rule to stored transactions, in a job. All other rules run too and keep their precedence, so the
 * result is the one that the rehearsal showed.
 */
export const applyRule = (id: string) =>
  answer(api.POST("/api/v1/rules/apply", { params: { header: once() }, body: { rule_ids: [id], with_others: true } }));

export type Rehearsal = Schemas["RuleRehearsal"];
export type RehearsedRow = Schemas["RuleRehearsalRow"];

/** The effect of a rule that is not saved or has unsaved changes. A newer request cancels the older one. */
export const rehearsal = (spec: RuleSpec | null, replace: string | undefined) =>
  queryOptions({
    queryKey: ["rules", "rehearsal", spec, replace],
    queryFn: ({ signal }) =>
      answer(api.POST("/api/v1/rules/rehearse", { body: { rules: spec ? [spec] : [], replace }, signal })),
    enabled: spec !== null,
    staleTime: staleAfter.short,
    gcTime: staleAfter.short,
    retry: false,
  });

export type Candidate = Schemas["RuleCandidate"];

/** Suggested rules that would categorize the payee of a transaction, the best first. */
export const suggestions = (transaction_id: string, category: string | undefined) =>
  queryOptions({
    queryKey: ["rules", "suggestions", transaction_id, category],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/rules/suggest", { params: { query: { transaction_id, category } }, signal })),
    staleTime: staleAfter.minute,
  });

export type Overlap = Schemas["RuleConflict"];

/** The rules that match the same transactions, and which rule wins. */
export const overlaps = (id: string) =>
  queryOptions({
    queryKey: ["rules", "overlaps", id],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/rules/{id}/conflicts", { params: byId(id), signal })),
    staleTime: staleAfter.minute,
  });

/** The result of the job that applies a rule. */
export type Applied = Schemas["RuleApplied"];
