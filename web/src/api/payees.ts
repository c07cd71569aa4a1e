import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";

export type Payee = Schemas["Payee"];
export type PayeeDetail = Schemas["PayeeDetail"];
export type Similar = Schemas["PayeeSimilar"];
export type Order = "spent" | "count" | "name" | "last";

/** The part of the address that identifies a payee's page. */
export const payeeAt = (p: Pick<Payee, "payee" | "counterparty">) => p.counterparty?.short_id ?? p.payee;

/** The payees since a day, with their totals. The first page also has the sets of payees that look alike. */
export const payees = (query: { start_date?: string; search?: string; sort_by: Order }) =>
  infiniteQueryOptions({
    queryKey: ["payees", "list", query],
    queryFn: ({ signal, pageParam: cursor }) =>
      answer(
        api.GET("/api/v1/payees", {
          params: { query: { ...query, transfer: false, limit: 50, ...(cursor ? { cursor } : { similar: true }) } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (p) => p.next_cursor || undefined,
    staleTime: staleAfter.short,
  });

/** The payees with the most transactions, for pickers. `transfers` adds payees that only transfers have. */
export const commonPayees = ({ transfers }: { transfers: boolean }) =>
  queryOptions({
    queryKey: ["payees", "common", transfers],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/payees", {
          params: { query: { sort_by: "count", limit: 500, ...(transfers ? {} : { transfer: false }) } },
          signal,
        }),
      ).then((r) => r.payees),
    staleTime: staleAfter.short,
  });

export const payeeOf = (id: string) =>
  queryOptions({
    queryKey: ["payees", "one", id],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/payees/{payee}", { params: { path: { payee: id } }, signal })),
    staleTime: staleAfter.short,
  });

/** Gives several payees one name, as one change. */
export const namePayees = (body: Schemas["PayeesNaming"]) => answer(api.POST("/api/v1/payees/name", { body }));
