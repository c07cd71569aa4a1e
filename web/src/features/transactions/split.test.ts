import { expect, test } from "vitest";
import { rest } from "./split";

test("what is left is exact, and unknown while an amount is missing", () => {
  expect(rest(980_00n, ["200"])).toBe(780_00n);
  expect(rest(30n, ["0.10", "0.20"])).toBe(0n);
  expect(rest(10_00n, ["12.50"])).toBe(-2_50n);
  expect(rest(10_00n, ["-2,50"])).toBe(12_50n);
  expect(rest(10_00n, ["1", ""])).toBeNull();
  expect(rest(10_00n, ["0"])).toBeNull();
});
