import { i18n } from "@lingui/core";
import { expect, it } from "vitest";
import { bare, daysOf, filtersOf, isOn, same, switches, withCategory, withOne, without, withoutOne } from "./filters";

it("asks only for what the address names", () => {
  expect(filtersOf({ open: "x" })).toEqual({});
  expect(filtersOf({ account: "a", tag: "t", from: "2026-11-05" })).toEqual({
    account_id: ["a"],
    tags: ["t"],
    start_date: "2026-11-05",
  });
});

it("asks for any of several tags, and for all accounts", () => {
  expect(filtersOf({ tag: "a,b", account: "x,y", person: "m", amount: "5..10", pending: false })).toEqual({
    any_tag: ["a", "b"],
    account_id: ["x", "y"],
    user_id: "m",
    amount: "5..10",
    pending: false,
  });
  expect(withOne("a,b", "c")).toBe("a,b,c");
  expect(withOne("a,b", "a")).toBe("b,a");
  expect(withOne(undefined, "a")).toBe("a");
  expect(withoutOne("a,b", "a")).toBe("b");
  expect(withoutOne("a", "a")).toBeUndefined();
});

it("keeps to the days of the filters", () => {
  expect(daysOf({ start_date: "2026-11-05", end_date: "2026-12-01" }, "2026-11")).toEqual(["2026-11-05", "2026-11-30"]);
});

it("knows several categories and what is switched off", () => {
  expect(filtersOf({ category: "food,fun", transfer: false, filed: "user" })).toEqual({
    category: ["food", "fun"],
    category_source: "user",
    transfer: false,
  });
});

it("finds its switches in an address and takes them out", () => {
  const on = switches.filter((s) => isOn({ transfer: false, held: true }, s.is));
  expect(on.map((s) => i18n._(s.name))).toEqual(["Locked", "Not transfers"]);
  expect(on.map((s) => without(s.is))).toEqual([{ held: undefined }, { transfer: undefined }]);
});

it("narrows from a category to its part, and widens from parts to the whole", () => {
  const parent = (slug: string) => (slug.startsWith("food_") ? "food" : null);
  expect(withCategory(["food", "home"], "food_out", parent)).toEqual(["home", "food_out"]);
  expect(withCategory(["food_out"], "food_in", parent)).toEqual(["food_out", "food_in"]);
  expect(withCategory(["food_out", "food_in", "home"], "food", parent)).toEqual(["home", "food"]);
});

it("knows addresses that narrow alike", () => {
  expect(bare({ open: "x", view: "v", tag: "trip", from: undefined })).toEqual({ tag: "trip" });
  expect(same({ tag: "trip" }, { tag: "trip" })).toBe(true);
  expect(same({ tag: "trip" }, {})).toBe(false);
  expect(same({}, { transfer: false })).toBe(false);
});
