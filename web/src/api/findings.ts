import { queryOptions } from "@tanstack/react-query";
import { recorded } from "./changes";
import { answer, api, type Schemas, staleAfter } from "./client";

export type Finding = Schemas["Finding"];

/** The newest findings with one state, at most 500. */
export const findings = (state: Finding["state"]) =>
  queryOptions({
    queryKey: ["findings", state],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/findings", { params: { query: { state, limit: 500 } }, signal })),
    staleTime: staleAfter.short,
  });

export const setFinding = (id: string, state: Finding["state"], exclude = false) =>
  recorded(api.PUT("/api/v1/findings/{id}", { params: { path: { id } }, body: { state, exclude } }));
