import { ApiError } from "#/api/client";

/** What the server refused, in words of the screen: people name categories, and never see a slug. */
export function refusal(e: unknown): unknown {
  if (!(e instanceof ApiError)) return e;
  const say = (message: string) => new ApiError(e.status, e.code, message, e.request);
  if (e.code === "SLUG_CONFLICT") return say("there is a category of this name here already; choose another name");
  if (e.details.some((d) => d.field === "slug")) return say("this name cannot be used; choose another one");
  return e;
}
