import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";

export type Year = Schemas["Year"];
export type YearCategory = Schemas["YearCategory"];

/** The totals of a year. They are requested again whenever a transaction changes. */
export const year = (year: number) =>
  queryOptions({
    queryKey: ["transactions", "year", year],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/years/{year}", { params: { path: { year } }, signal })),
    staleTime: staleAfter.minute,
  });
