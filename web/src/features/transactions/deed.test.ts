import { expect, it } from "vitest";
import { fileUnder, slugOf, tagWith } from "./deed";

it("says what will be done with its count, and what was done", () => {
  expect(fileUnder("food", "Food").ask(1200)).toBe("File 1,200 payments under Food");
  expect(fileUnder("food", "Food").said(1)).toBe("Filed under Food");
  expect(tagWith("work").ask(1)).toBe("Tag 1 payment #work");
});

it("makes a slug of what was typed", () => {
  expect(["Trip: Japan 2026", " Élan! ", "a--b"].map(slugOf)).toEqual(["trip:-japan-2026", "elan", "a-b"]);
});
