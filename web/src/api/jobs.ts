import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas } from "./client";

export type Job = Schemas["Job"];

export const ended = (j: Job) => j.state !== "queued" && j.state !== "running";

/** A job, polled until it ends. Failed requests are repeated, because the server may restart meanwhile. */
export const job = (job_id: string) =>
  queryOptions({
    queryKey: ["jobs", job_id],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id } }, signal })),
    refetchInterval: (q) => (q.state.data && ended(q.state.data) ? false : 700),
    retry: 60,
    retryDelay: 1000,
  });

/** Waits for a job to end. Failed requests are repeated, because the server may restart meanwhile. */
export async function jobEnd(job_id: string): Promise<Job> {
  for (;;) {
    const j = await answer(api.GET("/api/v1/jobs/{job_id}", { params: { path: { job_id } } })).catch(() => null);
    if (j && ended(j)) return j;
    await new Promise((r) => setTimeout(r, 700));
  }
}

export const cancelJob = (job_id: string) =>
  answer(api.POST("/api/v1/jobs/{job_id}/cancel", { params: { path: { job_id } } }));
