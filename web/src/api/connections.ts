import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";
import type { ProviderName } from "./settings";

export type Connection = Schemas["Connection"];
export type ConnectionHealth = Schemas["ConnectionHealth"];
export type SyncLog = Schemas["SyncLog"];
export type Quarantined = Schemas["Quarantined"];

export const connections = queryOptions({
  queryKey: ["connections"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/connections", { signal })),
  staleTime: staleAfter.short,
});

export const syncHealth = queryOptions({
  queryKey: ["sync", "health"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/sync/health", { signal })),
  staleTime: staleAfter.short,
});

/** The running syncs. The server starts scheduled syncs by itself, so this query polls. */
export const runningSyncs = queryOptions({
  queryKey: ["sync", "running"],
  queryFn: ({ signal }) =>
    answer(api.GET("/api/v1/sync/logs", { params: { query: { status: "running", limit: 50 } }, signal })),
  refetchInterval: 10_000,
});

export const syncLogs = (connection_id: string) =>
  queryOptions({
    queryKey: ["sync", "logs", connection_id],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/sync/logs", { params: { query: { connection_id, limit: 20 } }, signal })),
    staleTime: staleAfter.short,
  });

/** The imports of files, newest first, each with its account and the file's name. */
export const importLogs = queryOptions({
  queryKey: ["sync", "logs", "imports"],
  queryFn: ({ signal }) =>
    answer(api.GET("/api/v1/sync/logs", { params: { query: { trigger: "import", limit: 100 } }, signal })),
  staleTime: staleAfter.short,
});

export const quarantine = (connection_id: string) =>
  queryOptions({
    queryKey: ["sync", "quarantine", connection_id],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/sync/quarantine", { params: { query: { connection_id, limit: 50 } }, signal })),
    staleTime: staleAfter.short,
  });

const at = (id: string) => ({ path: { id } });

export const syncNow = (id: string) =>
  answer(api.POST("/api/v1/connections/{id}/sync", { params: { ...at(id), header: once() } }));

export const patchConnection = (id: string, body: Schemas["PatchConnection"]) =>
  answer(api.PATCH("/api/v1/connections/{id}", { params: at(id), body }));

export const removeConnection = (id: string) => answer(api.DELETE("/api/v1/connections/{id}", { params: at(id) }));

export const linkSession = (
  provider: ProviderName,
  redirect_url: string | undefined,
  given: Pick<Schemas["StartLink"], "fields" | "institution_id">,
) =>
  answer(
    api.POST("/api/v1/connections/link-session", {
      params: { header: once() },
      body: { provider, redirect_url, ...given },
    }),
  );

export const linkOutcome = (token: string) =>
  answer(api.GET("/api/v1/connections/link-session/{token}", { params: { path: { token } } }));

export const reauthSession = (id: string, redirect_url?: string) =>
  answer(
    api.POST("/api/v1/connections/{id}/reauth-session", {
      params: { ...at(id), header: once() },
      body: { redirect_url },
    }),
  );

export const retryRow = (id: string) =>
  answer(api.POST("/api/v1/sync/quarantine/{id}/retry", { params: { ...at(id), header: once() } }));

export const dropRow = (id: string) => answer(api.DELETE("/api/v1/sync/quarantine/{id}", { params: at(id) }));
