import { t } from "@lingui/core/macro";
import { ApiError } from "#/api/client";

/** Rewrites a server error for the screen, because people name categories and never see a slug. */
export function refusal(e: unknown): unknown {
  if (!(e instanceof ApiError)) return e;
  const say = (message: string) => new ApiError(e.status, e.code, message, e.request);
  if (e.code === "SLUG_CONFLICT") return say(t`a category with this name already exists`);
  if (e.details.some((d) => d.field === "slug")) return say(t`this name can’t be used; choose another`);
  return e;
}
