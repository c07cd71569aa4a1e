import createClient, { type Middleware } from "openapi-fetch";
import { saveDrafts } from "#/lib/drafts";
import { takeEarly } from "#/lib/early";
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
    readonly details: readonly { field?: string; message: string }[] = [],
  ) {
    super(message);
  }
  /** Whether it would be done for someone who has just signed in. */
  get wantsProof() {
    return this.code === "PROOF_REQUIRED";
  }
}

let leaving = false;

/** Whoever's session has ended signs in, and comes back to where they were with what they had typed. */
export function leave() {
  if (leaving) return;
  leaving = true;
  saveDrafts();
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}

const refusals: Middleware = {
  async onResponse({ response, schemaPath }) {
    if (response.ok || response.status === 304) return;
    if (response.status === 401 && schemaPath.startsWith("/api/")) leave();
    const said = (await response
      .clone()
      .json()
      .catch(() => null)) as { error?: Schemas["ErrorBody"] } | null;
    throw new ApiError(
      response.status,
      said?.error?.code ?? "UNKNOWN",
      said?.error?.message ?? (response.statusText || "the server gave no reason"),
      response.headers.get("X-Request-Id") ?? "",
      said?.error?.details ?? [],
    );
  },
};

/** What was asked for while the app was loaded is not asked for again. */
function send(request: Request): Promise<Response> {
  const early = request.method === "GET" && takeEarly(request.url.replace(location.origin, ""));
  return early || fetch(request);
}

export const api = createClient<paths>({ baseUrl: "/", credentials: "same-origin", fetch: send });
api.use(refusals);

/** Returns what a call answers. It can only be a success, because refusals throw. */
export async function answer<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** A key with which a write can be repeated and happens once. */
export const once = () => ({ "Idempotency-Key": crypto.randomUUID() });

/** How long an answer is good for before it is asked again when looked at. */
export const fresh = { short: 15_000, minute: 60_000, long: 600_000 } as const;
