import { queryOptions } from "@tanstack/react-query";
import { api, type Schemas } from "./client";

export type Pulse = Schemas["Pulse"];

let last: { etag: string; pulse: Pulse } | null = null;

/** Milliseconds between two beats: no screen may be wrong for longer than five seconds. */
export const beat = 3000;

/** Whether anything changed, in few bytes. */
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
