import { t } from "@lingui/core/macro";
import createClient, { type Middleware } from "openapi-fetch";
import { saveDrafts } from "#/lib/drafts";
import { takeEarly } from "#/lib/early";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** An error from the server, with its stable code and the request id by which to find it in the server's log. */
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
  /** Whether the request would succeed after a fresh sign-in. */
  get wantsReauth() {
    return this.code === "PROOF_REQUIRED";
  }
}

let leaving = false;

/**
 * Sends a person whose session has ended to the sign-in page. After signing in they return here and find what they
 * typed.
 */
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
    const body = (await response
      .clone()
      .json()
      .catch(() => null)) as { error?: Schemas["ErrorBody"] } | null;
    throw new ApiError(
      response.status,
      body?.error?.code ?? "UNKNOWN",
      body?.error?.message ?? (response.statusText || t`the server gave no reason`),
      response.headers.get("X-Request-Id") ?? "",
      body?.error?.details ?? [],
    );
  },
};

/** Sends a request. If it was already sent while the app was loading, the response to that one is returned. */
function send(request: Request): Promise<Response> {
  const early = request.method === "GET" && takeEarly(request.url.replace(location.origin, ""));
  return early || fetch(request);
}

export const api = createClient<paths>({ baseUrl: "/", credentials: "same-origin", fetch: send });
api.use(refusals);

/** Returns the result of a call. It is always a success, because errors throw. */
export async function answer<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** A header that lets a write be repeated safely: the server makes it only once. */
export const once = () => ({ "Idempotency-Key": crypto.randomUUID() });

/** For how many milliseconds data counts as fresh. A screen that shows older data requests it again. */
export const staleAfter = { short: 15_000, minute: 60_000, long: 600_000 } as const;

/**
 * The data that a screen shows while it loads new data: the previous data, if `same` says that its query differs only
 * in the period. Rows of any other query would be under the wrong headings.
 */
export const earlier =
  <Q>(same: (before: Q) => boolean) =>
  <T>(data: T | undefined, query: { queryKey: readonly unknown[] } | undefined): T | undefined =>
    query && same(query.queryKey.at(-1) as Q) ? data : undefined;
