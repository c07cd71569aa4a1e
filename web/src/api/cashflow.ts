import { queryOptions } from "@tanstack/react-query";
import { answer, api, earlier, fresh, type Schemas } from "./client";

export type Cashflow = Schemas["Cashflow"];
export type CashflowCurrency = Schemas["CashflowCurrency"];
export type CashflowNode = Schemas["CashflowNode"];
export type CashflowQuery = {
  start_date: string;
  end_date: string;
  compare?: "previous_period" | "previous_year";
  by?: "category" | "account";
};

/** Where money came from and went in some time. The same of another time stays until it is known. */
export const cashflow = (query: CashflowQuery) =>
  queryOptions({
    queryKey: ["cashflow", query],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/cashflow", { params: { query }, signal })),
    staleTime: fresh.minute,
    placeholderData: earlier<CashflowQuery>((q) => q.by === query.by && q.compare === query.compare),
  });
