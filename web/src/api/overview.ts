import { queryOptions } from "@tanstack/react-query";
import { answer, api, fresh, type Schemas } from "./client";

export type Overview = Schemas["Overview"];

export const overview = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/overview", { signal })),
  staleTime: fresh.minute,
});
