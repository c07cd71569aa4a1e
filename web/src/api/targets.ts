import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { recorded } from "./changes";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type Target = Schemas["MeasuredTarget"];
export type TargetTotal = Schemas["TargetTotal"];

/** Every target in a month. The previous month's figures stay until the new ones are here. */
export const targets = (month: string) =>
  queryOptions({
    queryKey: ["targets", month],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/targets", { params: { query: { month } }, signal })),
    staleTime: staleAfter.short,
    placeholderData: keepPreviousData,
  });

const at = (id: string) => ({ params: { path: { id } } });

export const createTarget = (body: Schemas["CreateTarget"]) =>
  recorded(api.POST("/api/v1/targets", { params: { header: once() }, body }));

export const changeTarget = ({ id, ...body }: Schemas["PatchTarget"] & { id: string }) =>
  recorded(api.PATCH("/api/v1/targets/{id}", { ...at(id), body }));

export const deleteTarget = (id: string) => recorded(api.DELETE("/api/v1/targets/{id}", at(id)));
