import { queryOptions } from "@tanstack/react-query";
import { answer, api, fresh, type Schemas } from "./client";

export type Account = Schemas["Account"];

export const accounts = queryOptions({
  queryKey: ["accounts"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/accounts", { signal })),
  staleTime: fresh.minute,
});

export const accountName = (a: Account) => a.display_name ?? a.name;
