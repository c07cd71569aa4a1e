import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";

export type Upcoming = Schemas["Upcoming"];
export type UpcomingDay = Schemas["UpcomingDay"];
export type UpcomingItem = Schemas["UpcomingItem"];
export type UpcomingAccount = Schemas["UpcomingAccount"];

/** The expected payments of the next days, including today. While new data loads, the previous data stays. */
export const upcoming = (days: number) =>
  queryOptions({
    queryKey: ["recurring", "upcoming", days],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/upcoming", { params: { query: { days } }, signal })),
    staleTime: staleAfter.short,
    placeholderData: keepPreviousData,
  });
