import { expect, it } from "vitest";
import { fieldOf, stay } from "./fields";

it("names fields and reasons as people do", () => {
  expect(["category", "tag:work", "display_name"].map(fieldOf)).toEqual(["Category", "Tag", "display name"]);
  expect(stay({ changed_since: 2, held: 1, missing: 0 })).toBe(
    "3 stay: 2 changed since by somebody, 1 held by a person.",
  );
  expect(stay({ held: 1 })).toBe("1 stays: held by a person.");
  expect(stay({})).toBe("");
});
