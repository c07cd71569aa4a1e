import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, staleAfter } from "./client";

export const calendarLinks = queryOptions({
  queryKey: ["me", "calendar"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/calendar-links", { params: { query: { limit: 100 } }, signal })),
  staleTime: staleAfter.short,
});

export const makeCalendarLink = (amounts: boolean) =>
  answer(api.POST("/api/v1/calendar-links", { params: { header: once() }, body: { amounts } }));

export const revokeCalendarLink = (id: string) =>
  answer(api.DELETE("/api/v1/calendar-links/{id}", { params: { path: { id } } }));
