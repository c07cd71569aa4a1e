import { queryOptions } from "@tanstack/react-query";
import { answer, api, staleAfter } from "./client";

const page = { params: { query: { limit: 100 } } };

/** The passwords, passkeys and other logins of the signed-in member. */
export const myLogins = queryOptions({
  queryKey: ["me", "login"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/users/me/login", { ...page, signal })),
  staleTime: staleAfter.short,
});

export const mySessions = queryOptions({
  queryKey: ["me", "sessions"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/users/me/sessions", { ...page, signal })),
  staleTime: staleAfter.short,
});

export const myAssistants = queryOptions({
  queryKey: ["me", "assistants"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/users/me/assistants", { ...page, signal })),
  staleTime: staleAfter.short,
});

export const removeMyLogin = (login_id: string) =>
  answer(api.DELETE("/api/v1/users/me/login/{login_id}", { params: { path: { login_id } } }));

export const endMySession = (session_id: string) =>
  answer(api.DELETE("/api/v1/users/me/sessions/{session_id}", { params: { path: { session_id } } }));

export const endMyAssistant = (assistant_id: string) =>
  answer(api.DELETE("/api/v1/users/me/assistants/{assistant_id}", { params: { path: { assistant_id } } }));

const preferences = "/api/v1/users/me/preferences";

/** The preferences that apps store for the signed-in member. */
export const myPreferences = () => answer(api.GET(preferences));

/** Changes some preferences. It keeps the others, because they may belong to another app. */
export async function changePreferences(changed: Record<string, string>) {
  const { data, response } = await api.GET(preferences);
  const all = { ...(data?.preferences as object | undefined), ...changed };
  const header = { "If-Match": response.headers.get("ETag") ?? undefined };
  return answer(api.PUT(preferences, { params: { header }, body: { preferences: all } }));
}
