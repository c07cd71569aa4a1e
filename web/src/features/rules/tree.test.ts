import { expect, it } from "vitest";
import { complete, parse, print, valuesOf } from "./tree";

const leaf = (field: string, op: string, value: unknown) => ({ field, op, value });

it("writes what it read", () => {
  for (const tree of [
    {},
    leaf("name", "contains", "rewe"),
    leaf("pending", "eq", true),
    leaf("name", "in", ["Rewe", "Smith, Jones"]),
    { and: [leaf("name", "contains", "rewe"), leaf("tags", "contains", "shared")] },
    { or: [leaf("name", "eq", "a"), { and: [leaf("name", "eq", "b"), leaf("pending", "neq", false)] }] },
    { not: leaf("name", "eq", "a") },
    { not: { or: [leaf("name", "eq", "a"), leaf("name", "eq", "b")] } },
    { not: { and: [leaf("name", "eq", "a"), leaf("name", "eq", "b")] } },
    { and: [leaf("name", "eq", "a"), { or: [leaf("name", "eq", "b"), { not: { not: leaf("name", "eq", "c") } }] }] },
  ])
    expect(print(parse(tree))).toEqual(tree);
});

it("keeps amounts as they are written, with a point", () => {
  expect(print(parse(leaf("amount", "lt", 150)))).toEqual(leaf("amount", "lt", "150"));
  expect(print({ mode: "all", lines: [{ field: "amount", op: "lt", value: "12,50" }] })).toEqual(
    leaf("amount", "lt", "12.50"),
  );
});

it("parts values at commas", () => {
  expect(valuesOf('Rewe, Edeka , "Smith, Jones",')).toEqual(["Rewe", "Edeka", "Smith, Jones"]);
  expect(valuesOf(" , ")).toEqual([]);
});

it("knows when a line is not finished", () => {
  const of = (field: string, op: string, value: string) => complete({ mode: "all", lines: [{ field, op, value }] });
  expect(of("name", "contains", " ")).toBe(false);
  expect(of("amount", "lt", "12.345")).toBe(false);
  expect(of("amount", "lt", "-12,3")).toBe(true);
  expect(of("category", "eq", "")).toBe(true);
  expect(of("name", "in", ",")).toBe(false);
  expect(complete({ mode: "all", lines: [{ mode: "any", lines: [] }] })).toBe(false);
  expect(complete({ mode: "all", lines: [] })).toBe(true);
});
