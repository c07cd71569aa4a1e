import { expect, it } from "vitest";
import { fieldOf, goesBack, stay } from "./fields";

it("names fields and reasons as people do", () => {
  expect(["category", "tag:work", "display_name"].map(fieldOf)).toEqual(["Category", "Tag", "display name"]);
  expect(stay({ reviewed_since: 2 })).toBe("2 fields won’t change: reviewed since by a person.");
  expect(stay({ changed_since: 2, held: 1, missing: 0 })).toBe("3 fields won’t change: 2 changed since, 1 locked.");
  expect(stay({ held: 1 })).toBe("1 field won’t change: locked.");
  expect(stay({ together: 12 })).toBe(
    "12 fields won’t change: part of a merge or deletion that can only be undone as a whole; undo later changes first.",
  );
  expect(stay({})).toBe("");
});

it("counts transactions in an undo, and fields where there are none", () => {
  expect(goesBack(12, 24)).toBe("Changes to 12 transactions will be undone.");
  expect(goesBack(1, 3)).toBe("Changes to 1 transaction will be undone.");
  expect(goesBack(0, 3)).toBe("Changes to 3 fields will be undone.");
  expect(goesBack(0, 0)).toBe("There’s nothing left to undo.");
});
