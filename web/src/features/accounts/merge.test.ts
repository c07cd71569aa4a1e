import { expect, test } from "vitest";
import { mergeWords } from "./merge";

test("says what a merge does", () => {
  expect(mergeWords({ moved: 1, duplicates: 0, decisions_moved: 0 })).toBe(
    "1 transaction will move. You can undo this.",
  );
  expect(mergeWords({ moved: 0, duplicates: 2, decisions_moved: 3 })).toBe(
    "0 transactions will move. 2 duplicates will be kept once. 3 of your edits will be kept. " + "You can undo this.",
  );
});
