import { queryOptions } from "@tanstack/react-query";
import { answer, api, fresh, type Schemas } from "./client";

/** `agents`: the cost of models this month, and the plans that wait for a person. */
export type Overview = Schemas["Overview"] & {
  agents?: { spent_usd: number; ceiling_usd: number | null; plans_waiting: number };
};

export const overview = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => answer<Overview>(api.GET("/api/v1/overview", { signal })),
  staleTime: fresh.minute,
});
