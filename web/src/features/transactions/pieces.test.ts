import { expect, it } from "vitest";
import { piecesOf } from "./pieces";

it("cuts a month between days, so that each piece has rows for more than a screen", () => {
  const days = [
    { period: "2026-11-30", count: 50 },
    { period: "2026-11-28", count: 70 },
    { period: "2026-11-27", count: 400 },
    { period: "2026-11-02", count: 3 },
  ];
  expect(piecesOf(days)).toEqual([
    { start: "2026-11-28", end: "2026-11-30", at: 0, rows: 120 },
    { start: "2026-11-27", end: "2026-11-27", at: 120, rows: 400 },
    { start: "2026-11-02", end: "2026-11-02", at: 520, rows: 3 },
  ]);
  expect(piecesOf([])).toEqual([]);
});
