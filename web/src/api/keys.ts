import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type Key = Schemas["ApiKey"];

export const keys = queryOptions({
  queryKey: ["keys"],
  queryFn: async ({ signal }) => {
    const out: Key[] = [];
    for (let cursor = "", more = true; more; ) {
      const page = await answer(
        api.GET("/api/v1/api-keys", { params: { query: { limit: 500, ...(cursor ? { cursor } : {}) } }, signal }),
      );
      out.push(...page.api_keys);
      cursor = page.next_cursor;
      more = page.has_more;
    }
    return out;
  },
  staleTime: staleAfter.short,
});

export const makeKey = (body: Schemas["CreateKey"]) =>
  answer(api.POST("/api/v1/api-keys", { params: { header: once() }, body }));

export const changeKey = ({ id, ...body }: Schemas["PatchKey"] & { id: string }) =>
  answer(api.PATCH("/api/v1/api-keys/{id}", { params: { path: { id } }, body }));

export const revokeKey = (id: string) => answer(api.DELETE("/api/v1/api-keys/{id}", { params: { path: { id } } }));

export const works = (k: Key, now = Date.now()) => !k.revoked_at && (!k.expires_at || Date.parse(k.expires_at) > now);
