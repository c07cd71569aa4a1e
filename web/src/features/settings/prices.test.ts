import { expect, it } from "vitest";
import { priced } from "./prices";

const old = { model: "a", input_usd: "3", output_usd: "15", cache_read_usd: "0.30" };
const other = { model: "b", input_usd: "1", output_usd: "2" };
const none = { input: null, output: null, cache_read: null, cache_write: null };

it("replaces the price of one model, and those of its cache with it", () => {
  const given = { input: "2", output: "10", cache_read: null, cache_write: "2.5" };
  expect(priced([old, other], "a", given)).toEqual([
    other,
    { model: "a", input_usd: "2", output_usd: "10", cache_write_usd: "2.5" },
  ]);
});

it("leaves all prices alone if none is given", () => {
  const all = [old, other];
  expect(priced(all, "a", none)).toBe(all);
  expect(priced(all, "a", { ...none, cache_read: "1" })).toBe(all);
});
