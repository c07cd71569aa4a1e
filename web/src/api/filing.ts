import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type Node = Schemas["CategoryNode"];
export type Leaf = Schemas["CategoryLeaf"];
export type Tag = Schemas["Tag"];
export type Payee = Schemas["Counterparty"];

/** The categories as a tree, hidden ones included. */
export const tree = queryOptions({
  queryKey: ["categories"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/categories", { signal })),
  staleTime: staleAfter.long,
});

const at = (id: string) => ({ params: { path: { id } } });

export const createCategory = (body: Schemas["CreateCategory"]) =>
  answer(api.POST("/api/v1/categories", { params: { header: once() }, body }));

export const changeCategory = ({ id, ...body }: Schemas["PatchCategory"] & { id: string }) =>
  answer(api.PATCH("/api/v1/categories/{id}", { ...at(id), body }));

export const mergeCategory = ({ id, into }: { id: string; into: string }) =>
  answer(api.POST("/api/v1/categories/{id}/merge", { ...at(id), body: { into } }));

export const exportCategories = () => answer(api.GET("/api/v1/categories/export", { parseAs: "text" }));

export const importCategories = ({ text, dry_run }: { text: string; dry_run: boolean }) =>
  answer(
    api.POST("/api/v1/categories/import", {
      params: { query: { dry_run } },
      body: text,
      bodySerializer: (b) => b,
      headers: { "Content-Type": "text/tab-separated-values" },
    }),
  );

export const createTag = (body: Schemas["CreateTag"]) =>
  answer(api.POST("/api/v1/tags", { params: { header: once() }, body }));

export const changeTag = ({ slug, ...body }: Schemas["PatchTag"] & { slug: string }) =>
  answer(api.PATCH("/api/v1/tags/{slug}", { params: { path: { slug } }, body }));

export const deleteTag = (slug: string) => answer(api.DELETE("/api/v1/tags/{slug}", { params: { path: { slug } } }));

export const changePayee = ({ id, ...body }: Schemas["PatchCounterparty"] & { id: string }) =>
  answer(api.PATCH("/api/v1/counterparties/{id}", { ...at(id), body }));

export const deletePayee = (id: string) => answer(api.DELETE("/api/v1/counterparties/{id}", at(id)));
