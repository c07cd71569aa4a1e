import { expect, test } from "vitest";
import type { NetWorth } from "#/api/networth";
import { groupsOf, lineOf, since } from "./worth";

const total = (net: number | null, over: object = {}) => ({
  iso_currency_code: "EUR",
  net,
  assets: net,
  debts: 0,
  known: 2,
  unknown: 0,
  derived: 0,
  gap: 0,
  ...over,
});

const worth: NetWorth = {
  accounts: [],
  notes: [],
  points: [
    { date: "2026-01-31", totals: [total(null)], groups: [{ name: "depository", ...total(null) }] },
    { date: "2026-02-28", totals: [total(10, { derived: 2 })], groups: [{ name: "depository", ...total(10) }] },
    { date: "2026-03-31", totals: [total(12.5, { gap: 1 })], groups: [{ name: "depository", ...total(12.5) }] },
  ],
};

test("a day of which nothing is known is not drawn", () => {
  expect(lineOf(worth, "EUR")).toEqual([
    { day: "2026-02-28", value: 1000n, derived: true, off: false },
    { day: "2026-03-31", value: 1250n, derived: false, off: true },
  ]);
  expect(lineOf(worth, "USD")).toEqual([]);
});

test("a group has what it came to at last and at first", () => {
  expect(groupsOf(worth, "EUR", "type")).toEqual([
    { key: "depository", name: "Cash and bank accounts", value: 1250n, before: null },
  ]);
});

test("what moved is said, unless other accounts were known then", () => {
  const say = (n: NetWorth) =>
    since(
      n,
      "EUR",
      (c) => `${c}c`,
      (d) => d,
    );
  expect(say(worth)).toBe("Up 250c since 2026-02-28.");
  const [, feb, mar] = worth.points;
  if (!feb || !mar) throw new Error("three points");
  const grown = { ...worth, points: [feb, { ...mar, totals: [total(12.5, { known: 3 })] }] };
  expect(say(grown)).toContain("grew from 2 on 2026-02-28 to 3");
  const one = { ...worth, points: [{ ...feb, totals: [total(12.5, { known: 1 })] }, mar] };
  expect(say(one)).toContain("grew from 1 on 2026-02-28 to 2");
  const fewer = { ...worth, points: [{ ...feb, totals: [total(12.5, { known: 3 })] }, mar] };
  expect(say(fewer)).toContain("fell from 3 on 2026-02-28 to 2");
  expect(say({ ...worth, points: [feb, { ...mar, totals: [total(4)] }] })).toBe("Down 600c since 2026-02-28.");
  expect(say({ ...worth, points: [feb, { ...mar, totals: [total(10)] }] })).toBe("No change since 2026-02-28.");
  expect(say({ ...worth, points: [] })).toBe("");
});
