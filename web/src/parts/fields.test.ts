import { expect, it } from "vitest";
import { fieldOf, stay } from "./fields";

it("names fields and reasons as people do", () => {
  expect(["category", "tag:work", "display_name"].map(fieldOf)).toEqual(["Category", "Tag", "display name"]);
  expect(stay({ reviewed_since: 2 })).toBe("2 won’t change: reviewed since by a person.");
  expect(stay({ changed_since: 2, held: 1, missing: 0 })).toBe("3 won’t change: 2 changed since, 1 locked.");
  expect(stay({ held: 1 })).toBe("1 won’t change: locked.");
  expect(stay({ together: 12 })).toBe(
    "12 won’t change: part of a merge or deletion that can only be undone as a whole; undo later changes first.",
  );
  expect(stay({})).toBe("");
});
