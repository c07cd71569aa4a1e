import { expect, test } from "vitest";
import { bands, flags } from "./bands";

test("what is owned lies above zero, what is owed below, each on what came before", () => {
  expect(
    bands([
      [5, 5],
      [0, 3],
      [-2, 1],
      [-4, -4],
    ]),
  ).toEqual([
    [
      [0, 5],
      [0, 5],
    ],
    [
      [5, 5],
      [5, 8],
    ],
    [
      [0, -2],
      [8, 9],
    ],
    [
      [-2, -6],
      [0, -4],
    ],
  ]);
  expect(bands([])).toEqual([]);
});

test("flags that would lie on each other are one", () => {
  expect(flags([10, 30, 50, 90], 36)).toEqual([
    { from: 1, to: 3, at: 30 },
    { from: 4, to: 4, at: 90 },
  ]);
  expect(flags([], 36)).toEqual([]);
});
