import { expect, it } from "vitest";
import { daysOf, filtersOf } from "./filters";

it("asks only for what the address names", () => {
  expect(filtersOf({ open: "x" })).toEqual({});
  expect(filtersOf({ account: "a", tag: "t", from: "2026-11-05" })).toEqual({
    account_id: ["a"],
    tags: ["t"],
    start_date: "2026-11-05",
  });
});

it("keeps to the days of the filters", () => {
  expect(daysOf({ start_date: "2026-11-05", end_date: "2026-12-01" }, "2026-11")).toEqual(["2026-11-05", "2026-11-30"]);
});
