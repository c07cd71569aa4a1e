import { queryOptions } from "@tanstack/react-query";
import { answer, api, earlier, type Schemas, staleAfter } from "./client";

export type NetWorth = Schemas["NetWorth"];
export type Rate = Schemas["Rate"];

type Asked = { start_date: string; interval: "week" | "month"; by: "type" | "account" | "user"; in?: string };

/** The household's assets and debts over time. While a new period loads, the figures of the previous one stay. */
export const netWorth = (query: Asked) =>
  queryOptions({
    queryKey: ["accounts", "net-worth", query],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/net-worth", { params: { query }, signal })),
    staleTime: staleAfter.minute,
    placeholderData: earlier<Asked>((q) => q.by === query.by && q.in === query.in),
  });

/** Whether the transactions of each account explain its balances. */
export const proofs = queryOptions({
  queryKey: ["accounts", "proofs"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/proof", { signal })),
  staleTime: staleAfter.minute,
});

export const rates = queryOptions({
  queryKey: ["settings", "rates"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/rates", { signal })),
  staleTime: staleAfter.minute,
});

export const setRate = (body: Schemas["SetRate"]) => answer(api.PUT("/api/v1/rates", { body }));

export const deleteRate = (id: string) => answer(api.DELETE("/api/v1/rates/{id}", { params: { path: { id } } }));
