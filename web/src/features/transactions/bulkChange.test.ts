import { expect, it } from "vitest";
import { fileUnder, slugOf, tagWith, untag } from "./bulkChange";

it("says what will be done with its count, and what was done", () => {
  expect(fileUnder("food", "Food").ask(1200)).toBe("Categorize 1,200 transactions as Food");
  expect(fileUnder("food", "Food").text(1)).toBe("Categorized as Food");
  expect(tagWith("work").ask(1)).toBe("Tag 1 transaction #work");
  expect(tagWith("work").text(3)).toBe("Tagged 3 with #work");
  expect(untag("work").text(3)).toBe("Removed #work from 3");
});

it("makes a slug of what was typed", () => {
  expect(["Trip: Japan 2026", " Élan! ", "a--b"].map(slugOf)).toEqual(["trip:-japan-2026", "elan", "a-b"]);
});
