import { queryOptions } from "@tanstack/react-query";
import { answer, api, once, type Schemas, staleAfter } from "./client";

export type Member = Schemas["User"];
export type Role = Member["role"];
export type Invitation = Schemas["UserInvitation"];
export type SignIn = Schemas["Login"];
export type Session = Schemas["Session"];
export type Assistant = Schemas["Assistant"];

export const members = queryOptions({
  queryKey: ["users", "list"],
  queryFn: ({ signal }) => answer(api.GET("/api/v1/users", { signal })),
  staleTime: staleAfter.minute,
});

const of = (user_id: string) => ({ params: { path: { user_id }, query: { limit: 100 } } });

export const logins = (user_id: string) =>
  queryOptions({
    queryKey: ["users", user_id, "login"],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/users/{user_id}/login", { ...of(user_id), signal })),
    staleTime: staleAfter.short,
  });

export const sessions = (user_id: string) =>
  queryOptions({
    queryKey: ["users", user_id, "sessions"],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/users/{user_id}/sessions", { ...of(user_id), signal })),
    staleTime: staleAfter.short,
  });

export const assistants = (user_id: string) =>
  queryOptions({
    queryKey: ["users", user_id, "assistants"],
    queryFn: ({ signal }) => answer(api.GET("/api/v1/users/{user_id}/assistants", { ...of(user_id), signal })),
    staleTime: staleAfter.short,
  });

export const addMember = (body: Schemas["CreateUser"]) =>
  answer(api.POST("/api/v1/users", { params: { header: once() }, body }));

export const inviteMember = (id: string) =>
  answer(api.POST("/api/v1/users/{id}/invitation", { params: { path: { id }, header: once() } }));

export const voidInvitation = (id: string) =>
  answer(api.DELETE("/api/v1/users/{id}/invitation", { params: { path: { id } } }));

export const addPassword = ({ user_id, password }: { user_id: string; password: string }) =>
  answer(
    api.POST("/api/v1/users/{user_id}/login", {
      params: { path: { user_id }, header: once() },
      body: { kind: "password", password },
    }),
  );

export const changeMember = ({ id, ...body }: Schemas["PatchUser"] & { id: string }) =>
  answer(api.PATCH("/api/v1/users/{id}", { params: { path: { id } }, body }));

export const removeMember = ({ id, reassign_to }: { id: string; reassign_to?: string }) =>
  answer(api.DELETE("/api/v1/users/{id}", { params: { path: { id }, query: reassign_to ? { reassign_to } : {} } }));

export const eraseMember = ({ id, dry_run }: { id: string; dry_run: boolean }) =>
  answer(api.POST("/api/v1/users/{id}/erase", { params: { path: { id } }, body: { dry_run } }));

export const removeLogin = ({ user_id, id }: SignIn) =>
  answer(api.DELETE("/api/v1/users/{user_id}/login/{login_id}", { params: { path: { user_id, login_id: id } } }));

export const endSession = ({ user_id, id }: { user_id: string; id: string }) =>
  answer(
    api.DELETE("/api/v1/users/{user_id}/sessions/{session_id}", { params: { path: { user_id, session_id: id } } }),
  );

export const endAssistant = ({ user_id, id }: { user_id: string; id: string }) =>
  answer(
    api.DELETE("/api/v1/users/{user_id}/assistants/{assistant_id}", {
      params: { path: { user_id, assistant_id: id } },
    }),
  );
