import { expect, it } from "vitest";
import { fits, ranked } from "./choices";

const all = ["Car rental", "Rental", "Parental care", "Rent", "Food"].map((label) => ({ value: label, label }));
const found = (typed: string) =>
  ranked(all, typed)
    .filter((c) => fits(c, typed))
    .map((c) => c.label);

it("puts the name that was typed before those that only begin so", () => {
  expect(found("Rent")).toEqual(["Rent", "Rental", "Car rental", "Parental care"]);
  expect(found(" rental ")).toEqual(["Rental", "Car rental", "Parental care"]);
});

it("takes two letters for the beginning of a word, and keeps the order of equals", () => {
  expect(found("re")).toEqual(["Rental", "Rent", "Car rental"]);
  expect(found("")).toEqual(all.map((c) => c.label));
});

it("offers to make what was typed last", () => {
  const making = { value: "", label: "New: ren" };
  expect(ranked([making, ...all], "ren").at(-1)).toBe(making);
  expect(fits(making, "ren")).toBe(true);
});
