import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type View = Schemas["View"];
export type NewView = Schemas["CreateView"];

/** The member's own saved views and the household's shared ones, ordered by name. */
export const views = queryOptions({
  queryKey: ["views"],
  queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/views", { signal }))).views,
  staleTime: staleAfter.minute,
});

export const createView = (body: NewView) => answer(api.POST("/api/v1/views", { params: { header: once() }, body }));

export const patchView = (id: string, body: Schemas["PatchView"]) =>
  answer(api.PATCH("/api/v1/views/{id}", { params: { path: { id } }, body }));

export const deleteView = (id: string) => answer(api.DELETE("/api/v1/views/{id}", { params: { path: { id } } }));
