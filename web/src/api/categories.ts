import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";

/** A category with the name of the category above it. */
export type Category = Schemas["CategoryLeaf"] & { group: string };

export const categories = queryOptions({
  queryKey: ["categories"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/categories", { signal })),
  staleTime: staleAfter.long,
  select: (tree): Category[] => tree.flatMap((n) => [n, ...n.children].map((c) => ({ ...c, group: n.display_name }))),
});

export const bySlug = (all: Category[] | undefined) => new Map((all ?? []).map((c) => [c.slug, c]));
