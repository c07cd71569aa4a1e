import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, staleAfter } from "./client";

export const counterparties = queryOptions({
  queryKey: ["counterparties"],
  queryFn: async ({ signal }) => (await answer(api.GET("/api/v1/counterparties", { signal }))).counterparties,
  staleTime: staleAfter.minute,
});

export const createCounterparty = (name: string) =>
  answer(api.POST("/api/v1/counterparties", { params: { header: once() }, body: { name } }));
