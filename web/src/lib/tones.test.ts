import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chosen, colors, lookOf } from "./tones";

test("the colors are those of the style sheet", () => {
  const css = readFileSync(new URL("../../../internal/surface/htmlpage/tokens.css", import.meta.url), "utf8");
  const there = colors.map(
    (_, i) => css.match(new RegExp(`\\.c${i + 1} \\{\\s*--c: light-dark\\((#[0-9a-f]{6})`))?.[1],
  );
  expect(there).toEqual([...colors]);
});

test("a look is what was chosen, else that of the category above, else by name", () => {
  const teal = { icon: "gift", color: "#177C97" };
  const seeded = { icon: "utensils", color: "#e86518" };
  expect(lookOf("food_and_drink", null, seeded)).toEqual({ tone: 2, icon: "fork" });
  expect(lookOf("food_and_drink", null, teal)).toEqual({ tone: 1, icon: "gift" });
  expect(lookOf("food_and_drink_bars", "food_and_drink", seeded, teal)).toEqual({ tone: 1, icon: "gift" });
  expect(lookOf("food_and_drink_groceries", "food_and_drink", seeded, teal)).toEqual({ tone: 5, icon: "cart" });
  expect(lookOf("pets", null, { icon: "", color: "" })).toEqual({ tone: 0, icon: "question" });
  expect(lookOf("pets", null, { icon: "", color: "#7b5fce" })).toEqual({ tone: 10, icon: "question" });
  expect(lookOf(null)).toEqual({ tone: 0, icon: "question" });
  expect(lookOf("a", null, teal)).toBe(lookOf("b", null, teal));
  expect(chosen(undefined)).toEqual({});
});
