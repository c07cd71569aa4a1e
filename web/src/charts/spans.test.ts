import { expect, it } from "vitest";
import { dayAt, ordinal } from "#/lib/dates";
import { alone, monthTicks, moves, offs, spans, strokes } from "./spans";

const p = (n: number) => ({ day: dayAt(ordinal("2026-01-01") + n), value: BigInt(n) });

it("draws a gap where days are missing", () => {
  const { runs, gaps } = spans([p(0), p(1), p(2), p(30), p(31)]);
  expect(runs.map((r) => r.length)).toEqual([3, 2]);
  expect(gaps).toEqual([{ from: p(2), to: p(30) }]);
});

it("takes a balance a month for what it is", () => {
  const { runs, gaps } = spans([p(0), p(31), p(59), p(90)]);
  expect([runs.length, gaps.length]).toEqual([1, 0]);
  expect(spans([]).runs).toEqual([]);
});

it("names the months at the foot, as many as there is room for", () => {
  expect(monthTicks("2026-01-15", "2026-04-02", 5)).toEqual(["2026-02-01", "2026-03-01", "2026-04-01"]);
  expect(monthTicks("2024-01-15", "2026-11-02", 5)).toEqual(["2025-01-01", "2026-01-01"]);
});

const d = (n: number, value = n) => ({ ...p(n), value: BigInt(value), derived: true });

it("parts what was stated from what was derived", () => {
  const run = [p(0), p(1), d(2), d(3), p(4), d(5)];
  expect(strokes(run).map((s) => [s.derived, s.points.length])).toEqual([
    [false, 2],
    [true, 5],
  ]);
  expect(alone(run)).toEqual([p(4)]);
  expect(alone([p(0)])).toEqual([p(0)]);
  expect(strokes([p(0)])).toEqual([]);
});

it("finds the days that do not add up", () => {
  const off = (n: number) => ({ ...p(n), off: true });
  const found = offs([p(0), off(1), off(2), p(3), p(4), off(5)]);
  expect(found.map((g) => [g.from.day, g.to.day])).toEqual([
    [p(0).day, p(2).day],
    [p(4).day, p(5).day],
  ]);
  expect(offs([off(0)]).map((g) => g.from.day)).toEqual([p(0).day]);
});

it("lists the days on which a balance was stated or moved", () => {
  expect(moves([p(0), d(1, 0), d(2, 7), d(3, 7), p(4)]).map((k) => k.day)).toEqual([p(0).day, p(2).day, p(4).day]);
});
