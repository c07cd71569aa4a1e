import { expect, test } from "vitest";
import type { NetWorth } from "#/api/networth";
import { groupsOf, layersOf, lineOf, marksOf, moved, partMoved } from "./worth";

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
  changes: [],
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

test("a group has its value on the last day and on the first known day", () => {
  expect(groupsOf(worth, "EUR", "type")).toEqual([
    { key: "depository", name: "Cash and bank accounts", value: 1250n, before: 1000n, tone: 1 },
  ]);
});

test("layers are the types over time, without days of which nothing is known", () => {
  const house = { name: "other", ...total(500) };
  const grown = {
    ...worth,
    points: worth.points.map((p, i) => (i === 2 ? { ...p, groups: [...(p.groups ?? []), house] } : p)),
  };
  expect(layersOf(grown, "EUR")).toEqual({
    days: ["2026-02-28", "2026-03-31"],
    net: [1000n, 1250n],
    layers: [
      { key: "depository", name: "Cash and bank accounts", tone: 1, values: [1000n, 1250n] },
      { key: "other", name: "Property and other", tone: 7, values: [0n, 50000n] },
    ],
  });
  expect(layersOf(worth, "USD")).toEqual({ days: [], net: [], layers: [] });
});

test("accounts that became known on one day have one mark", () => {
  const one = (name: string, date: string) => ({ id: name, name, date, balance: 5 });
  const change = {
    iso_currency_code: "EUR",
    start_date: "2026-01-31",
    end_date: "2026-03-31",
    net: 1,
    assets: 1,
    debts: 0,
    without_new: 0,
    new_accounts: [one("House", "2026-02-28"), one("Mortgage", "2026-02-28"), one("ETF", "2026-03-31")],
  };
  expect(marksOf(change)).toEqual([
    { day: "2026-02-28", names: ["House", "Mortgage"] },
    { day: "2026-03-31", names: ["ETF"] },
  ]);
  expect(marksOf(undefined)).toEqual([]);
});

test("what moved is said", () => {
  const say = (c: bigint) => `${c}c`;
  expect([moved(250n, say), moved(-250n, say), moved(0n, say)]).toEqual(["up 250c", "down 250c", "no change"]);
  expect(partMoved(300n, 100n, say)).toBe("up 200c in the period");
  expect(partMoved(-300n, -500n, say)).toBe("200c less debt");
  expect(partMoved(-500n, -300n, say)).toBe("200c more debt");
  expect(partMoved(-300n, -300n, say)).toBe("no change in the period");
});
