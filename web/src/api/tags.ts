import { queryOptions } from "@tanstack/react-query";
import { answer, api, staleAfter } from "./client";

export const tags = queryOptions({
  queryKey: ["tags"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/tags", { signal })),
  staleTime: staleAfter.minute,
});
