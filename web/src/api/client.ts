import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** What the service refused, with its stable code and the id under which its log has more. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly request = "",
  ) {
    super(message);
  }
  /** Whether the session has ended. */
  get signedOut() {
    return this.status === 401;
  }
  /** Whether it would be done for someone who has just signed in. */
  get wantsProof() {
    return this.status === 403 && (this.code === "PROOF_REQUIRED" || this.message.includes("/login?again=1"));
  }
}

const refusals: Middleware = {
  async onResponse({ response }) {
    if (response.ok || response.status === 304) return;
    const said = (await response
      .clone()
      .json()
      .catch(() => null)) as { error?: Schemas["FaceError"] } | null;
    throw new ApiError(
      response.status,
      said?.error?.code ?? "UNKNOWN",
      said?.error?.message ?? (response.statusText || "the server gave no reason"),
      response.headers.get("X-Request-Id") ?? "",
    );
  },
};

export const api = createClient<paths>({ baseUrl: "/", credentials: "same-origin" });
api.use(refusals);

/** Returns what a call answers. It can only be a success, because refusals throw. */
export async function answer<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** A key with which a write can be repeated and happens once. */
export const once = () => ({ "Idempotency-Key": crypto.randomUUID() });

/** How long an answer is good for before it is asked again when looked at. */
export const fresh = { short: 15_000, minute: 60_000, long: 600_000 } as const;
