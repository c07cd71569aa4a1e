import { queryOptions } from "@tanstack/react-query";
import { ApiError, answer, api, fresh, leave, type Schemas } from "./client";

/** Who is signed in at this moment. The app is for those who are, so that whoever is not any more leaves it. */
export async function sessionNow() {
  const now = await answer(api.GET("/auth/session"));
  if (now.signed_in) return now;
  leave();
  throw new ApiError(401, "UNAUTHORIZED", "you are no longer signed in");
}

export const session = queryOptions({
  queryKey: ["session"],
  queryFn: sessionNow,
  staleTime: fresh.long,
});

/** Signs in again, which proves for some minutes who is there. */
export const signIn = (email: string, password: string) =>
  answer(api.POST("/auth/login", { body: { email, password } }));

/** The passkey calls are the sign-in page's own and stand in no document. */
async function ceremony<T>(path: string, body?: unknown): Promise<T> {
  const response = await fetch(path, {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const said = (await response.json().catch(() => ({}))) as T & { error?: Schemas["ErrorBody"] };
  if (!response.ok) throw new ApiError(response.status, said.error?.code ?? "UNKNOWN", said.error?.message ?? "");
  return said;
}

/** Whether this browser knows passkeys. */
export const passkeys = () => "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

/** Signs in again with a passkey; answers whether someone did. */
export async function signInByPasskey(): Promise<boolean> {
  const begun = await ceremony<{ ticket: string; options: PublicKeyCredentialRequestOptionsJSON }>(
    "/login/passkey/begin",
  );
  let credential: Credential | null;
  try {
    credential = await navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(begun.options),
    });
  } catch (e) {
    if (e instanceof DOMException && (e.name === "NotAllowedError" || e.name === "AbortError")) return false;
    throw e;
  }
  if (!(credential instanceof PublicKeyCredential)) return false;
  await ceremony(`/login/passkey/finish?ticket=${encodeURIComponent(begun.ticket)}`, credential.toJSON());
  return true;
}
