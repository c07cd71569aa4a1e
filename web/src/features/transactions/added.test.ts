import { expect, it } from "vitest";
import { sumsOf, sumsOfRows } from "./added";
import { timeline } from "./timeline";

const row = (amount: number, iso_currency_code: string) => ({ amount, iso_currency_code });

it("adds rows up by currency, and never across", () => {
  expect(sumsOfRows([])).toEqual([]);
  expect(sumsOfRows([row(0.1, "EUR"), row(0.2, "EUR"), row(-12.5, "EUR"), row(99, "USD"), row(0, "CHF")])).toEqual([
    { currency: "USD", in: 0n, out: 9900n },
    { currency: "EUR", in: 1250n, out: 30n },
    { currency: "CHF", in: 0n, out: 0n },
  ]);
});

it("adds the months of a list up", () => {
  const total = (money_in: number, money_out: number, iso_currency_code = "EUR") => ({
    iso_currency_code,
    money_in,
    money_out,
    net: 0,
    count: 1,
  });
  const line = timeline([
    { period: "2026-11", count: 2, totals: [total(1.5, 2), total(5, 0, "USD")] },
    { period: "2026-10", count: 1, totals: [total(0, 10.25)] },
  ]);
  expect(sumsOf(line)).toEqual([
    { currency: "EUR", in: 150n, out: 1225n },
    { currency: "USD", in: 500n, out: 0n },
  ]);
});
