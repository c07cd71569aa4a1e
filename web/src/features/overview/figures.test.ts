import { expect, it } from "vitest";
import { largest, mainCurrency, openedOn, pace, thirteen, upToDate, withoutCategory } from "./figures";

const g = (day: string, money_in: number, money_out: number, iso_currency_code = "EUR", count = 1) => ({
  keys: { day },
  iso_currency_code,
  money_in,
  money_out,
  net: 0,
  count,
});

it("shows the currency with most transactions first", () => {
  expect(mainCurrency([g("2026-11-01", 1, 2, "USD", 3), g("2026-11-02", 3, 4, "EUR", 9)])).toBe("EUR");
  expect(mainCurrency([])).toBeNull();
});

it("adds days up to thirteen months, also empty ones", () => {
  const days = [
    g("2026-10-01", 0.1, 0.2),
    g("2026-10-31", 0, 0.1),
    g("2026-10-02", 9, 9, "USD"),
    g("2025-10-31", 5, 5),
  ];
  const all = thirteen(days, "2026-11", "EUR");
  expect(all).toHaveLength(13);
  expect(all[0]).toEqual({ month: "2025-11", in: 0n, out: 0n });
  expect(all[11]).toEqual({ month: "2026-10", in: 10n, out: 30n });
});

it("adds day by day, and never another currency", () => {
  const days = [g("2026-11-01", 0, 0.1), g("2026-11-03", 0, 0.2), g("2026-11-03", 0, 99, "USD")];
  expect(pace(days, "2026-11", "EUR", 4)).toEqual([10n, 10n, 30n, 30n]);
});

it("lists the accounts that matter first, debts among them", () => {
  const all = [10, 28450, -19720, null, 0].map((balance_today) => ({ balance_today }));
  expect(largest(all).map((a) => a.balance_today)).toEqual([28450, -19720, 10, null, 0]);
});

it("says how many transactions are uncategorized, as far as they are counted", () => {
  expect(withoutCategory(1)).toBe("1 uncategorized transaction");
  expect(withoutCategory(2471)).toBe("2,471 uncategorized transactions");
  expect(withoutCategory(10_000)).toBe("10,000 or more uncategorized transactions");
});

it("opens the newest month with transactions", () => {
  expect(openedOn("2026-11-18", "2026-11-02")).toBe("2026-11");
  expect(openedOn("2026-11-18", "2026-02-20")).toBe("2026-02");
  expect(openedOn("2026-11-18", "2026-12-01")).toBe("2026-11");
  expect(openedOn("2026-11-18", null)).toBe("2026-11");
  expect(openedOn("2026-11-18", undefined)).toBe("2026-11");
});

it("calls a bank up to date that syncs, or whose statement is recent", () => {
  const bank = { provider: "csv", status: "active", latest_date: "2026-11-01" };
  expect(upToDate(bank, "2026-11-18")).toBe(true);
  expect(upToDate({ ...bank, latest_date: "2026-02-20" }, "2026-11-18")).toBe(false);
  expect(upToDate({ ...bank, latest_date: null }, "2026-11-18")).toBe(false);
  expect(upToDate({ ...bank, provider: "plaid", latest_date: null }, "2026-11-18")).toBe(true);
  expect(upToDate({ ...bank, provider: "plaid", status: "error" }, "2026-11-18")).toBe(false);
});
