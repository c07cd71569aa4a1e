import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Schemas, staleAfter } from "./client";

export type Household = Schemas["Household"];
export type AgentLimits = Schemas["AgentSettings"];
export type Provider = Schemas["Provider"];
export type ProviderName = keyof Schemas["Providers"];
export type ModelName = keyof Schemas["Models"];

export const household = queryOptions({
  queryKey: ["settings", "household"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/settings", { signal })),
  staleTime: staleAfter.minute,
});

export const changeHousehold = (body: Schemas["PatchHousehold"]) => answer(api.PATCH("/api/v1/settings", { body }));

export const agentLimits = queryOptions({
  queryKey: ["settings", "agents"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/settings/agents", { signal })),
  staleTime: staleAfter.minute,
});

export const changeAgentLimits = (body: Schemas["PatchAgents"]) =>
  answer(api.PATCH("/api/v1/settings/agents", { body }));

export const providers = queryOptions({
  queryKey: ["settings", "providers"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/settings/providers", { signal })),
  staleTime: staleAfter.minute,
});

const at = (provider: ProviderName) => ({ params: { path: { provider } } });

export const setProvider = ({ provider, ...body }: Schemas["SetProvider"] & { provider: ProviderName }) =>
  answer(api.PUT("/api/v1/settings/providers/{provider}", { ...at(provider), body }));

export const unsetProvider = (provider: ProviderName) =>
  answer(api.DELETE("/api/v1/settings/providers/{provider}", at(provider)));

export const testProvider = (provider: ProviderName) =>
  answer(api.POST("/api/v1/settings/providers/{provider}/test", at(provider)));

export const models = queryOptions({
  queryKey: ["settings", "models"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/settings/models", { signal })),
  staleTime: staleAfter.minute,
});

export const setModel = (body: Schemas["SetModel"]) => answer(api.PUT("/api/v1/settings/models", { body }));

/** Tests a model. A model that is not good enough is a result, not an error. */
export const testModel = (body: Schemas["ModelTestRequest"]) =>
  answer(api.POST("/api/v1/settings/models/test", { body }));

export const webhooks = queryOptions({
  queryKey: ["webhooks"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/webhook-events", { params: { query: { limit: 5 } }, signal })),
  staleTime: staleAfter.short,
});

export type Format = NonNullable<Schemas["CreateExport"]["format"]>;

export const takeOut = (format: Format) => answer(api.POST("/api/v1/exports", { body: { format } }));

export const version = queryOptions({
  queryKey: ["version"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/version", { signal })),
  staleTime: staleAfter.long,
});
