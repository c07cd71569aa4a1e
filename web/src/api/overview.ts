import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";

/** `agents`: this month's cost of models, and how many plans wait for a person. */
export type Overview = Schemas["Overview"] & {
  agents?: { spent_usd: number; ceiling_usd: number | null; plans_waiting: number };
};

export const overview = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => answer<Overview>(api.GET("/api/v1/overview", { signal })),
  staleTime: staleAfter.minute,
});
