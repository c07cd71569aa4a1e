import { queryOptions } from "@tanstack/react-query";
import { answer, api, earlier, type Schemas, staleAfter } from "./client";

export type Cashflow = Schemas["Cashflow"];
export type CashflowCurrency = Schemas["CashflowCurrency"];
export type CashflowNode = Schemas["CashflowNode"];
export type CashflowQuery = {
  start_date: string;
  end_date: string;
  compare?: "previous_period" | "previous_year";
  by?: "category" | "account";
};

/** Where money came from and went in a period. The figures of the last period stay until the new ones arrive. */
export const cashflow = (query: CashflowQuery) =>
  queryOptions({
    queryKey: ["cashflow", query],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/cashflow", { params: { query }, signal })),
    staleTime: staleAfter.minute,
    placeholderData: earlier<CashflowQuery>((q) => q.by === query.by && q.compare === query.compare),
  });
