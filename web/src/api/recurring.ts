import { queryOptions } from "@tanstack/react-query";
import { recorded } from "./changes";
import { answer, api, type Schemas, staleAfter } from "./client";

export type Recurring = Schemas["Recurring"];
export type Contract = Schemas["RecurringDetail"];

/** All recurring payments, dismissed ones too: there are at most some hundreds. */
export const recurring = queryOptions({
  queryKey: ["recurring"],
  queryFn: async ({ signal }) => {
    const out: Recurring[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const page = await answer(
        api.GET("/api/v1/recurring", {
          params: { query: { state: ["auto", "confirmed", "dismissed"], limit: 500, cursor } },
          signal,
        }),
      );
      out.push(...page.recurring);
      cursor = page.next_cursor;
      more = page.has_more;
    }
    return out;
  },
  staleTime: staleAfter.short,
});

/** One recurring payment with its payments. */
export const contract = (id: string) =>
  queryOptions({
    queryKey: ["recurring", "one", id],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/recurring/{id}", { params: { path: { id } }, signal })),
    staleTime: staleAfter.short,
  });

export const changeRecurring = ({ id, ...body }: Schemas["PatchRecurring"] & { id: string }) =>
  recorded(api.PATCH("/api/v1/recurring/{id}", { params: { path: { id } }, body }));
