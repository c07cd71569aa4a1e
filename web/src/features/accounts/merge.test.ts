import { expect, test } from "vitest";
import { mergeWords } from "./merge";

test("says what a merge does", () => {
  expect(mergeWords({ moved: 1, duplicates: 0, decisions_moved: 0 })).toBe("1 payment moves. You can undo this.");
  expect(mergeWords({ moved: 0, duplicates: 2, decisions_moved: 3 })).toBe(
    "0 payments move. 2 payments that both accounts have stay once. What you decided about them is kept: 3. " +
      "You can undo this.",
  );
});
