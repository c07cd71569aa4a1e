import { queryOptions } from "@tanstack/react-query";
import { api, type Schemas } from "./client";

export type Pulse = Schemas["Pulse"];

let last: { etag: string; pulse: Pulse } | null = null;

/** Milliseconds between two requests for the pulse. No screen may be out of date for more than five seconds. */
export const beat = 3000;

/** A few counters that show whether anything changed. The response is small, because every tab polls it. */
export const pulse = queryOptions({
  queryKey: ["pulse"],
  queryFn: async ({ signal }): Promise<Pulse | null> => {
    const headers = last ? { "If-None-Match": last.etag } : {};
    const { data, response } = await api.GET("/api/v1/pulse", { headers, signal });
    if (data) last = { etag: response.headers.get("ETag") ?? "", pulse: data };
    return last?.pulse ?? null;
  },
  retry: false,
});
