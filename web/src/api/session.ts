import { queryOptions } from "@tanstack/react-query";
import { answer, api, fresh } from "./client";

export const session = queryOptions({
  queryKey: ["session"],
  queryFn: () => answer(api.GET("/auth/session")),
  staleTime: fresh.long,
});

/** Signs in again, which proves for some minutes who is there. */
export const signIn = (email: string, password: string) =>
  answer(api.POST("/auth/login", { body: { email, password } }));

/** Whether a role may change anything. */
export const writes = (role: string | undefined) => role === "admin" || role === "member";
