import { expect, it } from "vitest";
import { daysOf, fieldOf } from "./days";

const change = (id: string, at: string, x: object = {}) =>
  ({ id, created_at: new Date(at).toISOString(), reverts: null, reverted_by: null, ...x }) as never;

it("folds a revert into what it took back", () => {
  const days = daysOf([
    change("c", "2026-11-15T12:00:00", { reverts: "a" }),
    change("b", "2026-11-15T11:00:00"),
    change("a", "2026-11-14T10:00:00", { reverted_by: "c" }),
  ]);
  expect(days.map((d) => [d.day, d.deeds.map((x) => [x.change.id, x.undoneBy?.id])])).toEqual([
    ["2026-11-15", [["b", undefined]]],
    ["2026-11-14", [["a", "c"]]],
  ]);
});

it("shows a revert of something older", () => {
  expect(daysOf([change("c", "2026-11-15T12:00:00", { reverts: "gone" })])[0]?.deeds).toHaveLength(1);
});

it("names fields as people do", () => {
  expect(["category", "tag:work", "display_name"].map(fieldOf)).toEqual(["Category", "Tag", "display name"]);
});
