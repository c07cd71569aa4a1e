import { scaleLinear } from "d3-scale";
import { expect, it } from "vitest";
import { roomy, steps } from "./steps";

it("names no two lines of an axis alike", () => {
  const named = (top: number, n: number) => {
    const y = scaleLinear([0, top], [100, 0]).nice(n);
    return steps(y.ticks(n), false);
  };
  expect(named(1, 3)).toEqual([0, 1]);
  expect(named(3, 4)).toEqual([0, 1, 2, 3]);
  expect(named(4000, 4)).toEqual([0, 1000, 2000, 3000, 4000]);
});

it("has the foot alone where nothing is measured", () => {
  expect(steps([0, 0.5, 1], true)).toEqual([0]);
});

it("leaves out a label that the next one would cover", () => {
  const years = [
    { n: "2024", at: 48 },
    { n: "2025", at: 70 },
    { n: "2026", at: 300 },
  ];
  expect(roomy(years, 34).map((y) => y.n)).toEqual(["2025", "2026"]);
});
