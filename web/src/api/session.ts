import { t } from "@lingui/core/macro";
import { queryOptions } from "@tanstack/react-query";
import { ApiError, answer, api, leave, type Schemas, staleAfter } from "./client";

/** The signed-in person. If nobody is signed in, the browser goes to the sign-in page. */
export async function sessionNow() {
  const now = await answer(api.GET("/auth/session"));
  if (now.signed_in) return now;
  leave();
  throw new ApiError(401, "UNAUTHORIZED", t`your session has ended`);
}

export const session = queryOptions({
  queryKey: ["session"],
  queryFn: sessionNow,
  staleTime: staleAfter.long,
});

/** Signs in again. For a few minutes this proves who is at the browser. */
export const signIn = (email: string, password: string) =>
  answer(api.POST("/auth/login", { body: { email, password } }));

/** Makes one of the calls of a passkey sign-in. They belong to the sign-in page and are not in the OpenAPI document. */
async function ceremony<T>(path: string, body?: unknown): Promise<T> {
  const response = await fetch(path, {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const reply = (await response.json().catch(() => ({}))) as T & { error?: Schemas["ErrorBody"] };
  if (!response.ok) throw new ApiError(response.status, reply.error?.code ?? "UNKNOWN", reply.error?.message ?? "");
  return reply;
}

/** Whether passkeys work here: the browser must support them, and the page's host must be a name, not an IP address. */
export const passkeys = () =>
  "PublicKeyCredential" in window &&
  "parseRequestOptionsFromJSON" in PublicKeyCredential &&
  !/^(\[.*\]|[\d.]+)$/.test(location.hostname);

/** Signs in again with a passkey, and returns whether it succeeded. */
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
