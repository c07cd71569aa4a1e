import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type Endpoint = Schemas["Endpoint"];
export type Notification = Schemas["Notification"];

export const endpoints = queryOptions({
  queryKey: ["notifications", "endpoints"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/notifications/endpoints", { signal })),
  staleTime: staleAfter.minute,
});

export const notifications = queryOptions({
  queryKey: ["notifications", "list"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/notifications", { params: { query: { limit: 8 } }, signal })),
  staleTime: staleAfter.short,
});

const at = (id: string) => ({ params: { path: { id } } });

export const addEndpoint = (body: Schemas["CreateEndpoint"]) =>
  answer(api.POST("/api/v1/notifications/endpoints", { params: { header: once() }, body }));

export const changeEndpoint = ({ id, ...body }: Schemas["PatchEndpoint"] & { id: string }) =>
  answer(api.PATCH("/api/v1/notifications/endpoints/{id}", { ...at(id), body }));

export const removeEndpoint = (id: string) => answer(api.DELETE("/api/v1/notifications/endpoints/{id}", at(id)));

export const rotateEndpoint = (id: string) => answer(api.POST("/api/v1/notifications/endpoints/{id}/rotate", at(id)));

/** Sends a test message. A receiver that rejects it is a result, not an error. */
export const testEndpoint = (id: string) => answer(api.POST("/api/v1/notifications/endpoints/{id}/test", at(id)));

export const resend = (id: string) => answer(api.POST("/api/v1/notifications/{id}/resend", { ...at(id), body: {} }));
