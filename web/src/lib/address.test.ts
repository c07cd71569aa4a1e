import { expect, it } from "vitest";
import { readActivity, readMonth, readTransactions } from "./address";

it("takes what fits and leaves out what does not", () => {
  expect(readMonth({ month: "2026-11" })).toEqual({ month: "2026-11" });
  expect(readMonth({ month: "2026-13" }).month).toBeUndefined();
  expect(readActivity({ who: "everyone" }).who).toBeUndefined();
  const search = readTransactions({
    search: 42,
    from: "2026-02-40",
    direction: "in",
    open: ["x"],
    uncategorized: "yes",
  });
  expect(search).toMatchObject({ search: "42", direction: "in" });
  expect([search.from, search.open, search.uncategorized]).toEqual([undefined, undefined, undefined]);
});
