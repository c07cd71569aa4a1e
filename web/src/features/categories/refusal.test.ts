import { expect, it } from "vitest";
import { ApiError } from "#/api/client";
import { refusal } from "./refusal";

it("speaks of names and not of slugs", () => {
  const of = (e: unknown) => (refusal(e) as Error).message;
  expect(of(new ApiError(409, "SLUG_CONFLICT", "a category with this slug already exists"))).toContain("name");
  const empty = [{ field: "slug", message: "must not be empty" }];
  expect(of(new ApiError(400, "INVALID", "slug: must not be empty", "", empty))).not.toContain("slug");
  const other = new ApiError(500, "INTERNAL", "sorry");
  expect(refusal(other)).toBe(other);
});
