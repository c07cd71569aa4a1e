import { expect, it } from "vitest";
import { addressOf, opening } from "./views";

it("shows a view by its address", () => {
  expect(
    addressOf({ category: ["food", "fun"], account_id: ["a1"], tags: ["trip"], direction: "out", transfer: false }),
  ).toEqual({
    search: { category: "food,fun", account: "a1", tag: "trip", direction: "out", transfer: false },
    left: [],
  });
  expect(opening({ short_id: "v1", filters: { start_date: "2026-11-05" } } as never)).toEqual({
    from: "2026-11-05",
    view: "v1",
  });
});

it("holds several of a kind", () => {
  expect(addressOf({ account_id: ["a1", "a2"], any_tag: ["a", "b"], user_id: "m1", amount: "5..10" })).toEqual({
    search: { account: "a1,a2", tag: "a,b", person: "m1", amount: "5..10" },
    left: [],
  });
  expect(addressOf({ any_tag: ["a"], pending: false }).left).toEqual(["any tag"]);
});

it("names what no address can hold", () => {
  expect(addressOf({ search: "rewe", search_mode: "words", held: false, tags: ["a", "b"], min_amount: 5 })).toEqual({
    search: { search: "rewe" },
    left: ["search mode", "tags", "min amount", "held"],
  });
});
