import { expect, it } from "vitest";
import type { Node } from "#/api/filing";
import type { Group } from "#/api/transactions";
import { find, slugOf, sums, total, usesBy } from "./uses";

const group = (category: string, iso_currency_code: string, money_out: number, money_in: number, count: number) =>
  ({ keys: { category }, iso_currency_code, money_out, money_in, net: 0, count }) as Group;
const leaf = (slug: string, display_name: string) => ({ slug, display_name, children: [] as unknown[] }) as Node;
const food = { ...leaf("food", "Food"), children: [leaf("food_out", "Restaurants")] } as Node;

it("adds what a category and those below it cost, by currency", () => {
  const uses = usesBy(
    [group("food", "EUR", 10.1, 0.1, 2), group("food_out", "EUR", 5, 0, 1), group("food_out", "USD", 90, 0, 3)],
    (g) => g.keys.category,
  );
  expect(sums(total(food, uses))).toEqual([
    ["USD", 9000n],
    ["EUR", 1500n],
  ]);
  expect(total(food, uses).count).toBe(6);
});

it("finds categories by a word, with the one above them", () => {
  const tree = [food, leaf("home", "Home")];
  expect(find(tree, "rest").map((n) => n.children.length)).toEqual([1]);
  expect(find(tree, "")).toHaveLength(2);
  expect(find(tree, "nothing")).toEqual([]);
});

it("makes a slug of a name", () => {
  expect(slugOf("Café & Küche!", "food")).toBe("food_cafe_kuche");
  expect(slugOf("🦊")).toBe("category-1");
  expect(slugOf("日本", "travel", new Set(["travel_category-1"]))).toBe("travel_category-2");
  const long = slugOf("word ".repeat(20), "home");
  expect(long).toMatch(/^home(_word)+-1$/);
  expect(long.length).toBeLessThanOrEqual(64);
});
