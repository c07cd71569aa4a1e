import { expect, it } from "vitest";
import { allSumsOf, sumsOf, sumsOfRows } from "./added";
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

const sums = (money_in: number, money_out: number, count: number) => ({ money_in, money_out, net: 0, count });
const total = (all: ReturnType<typeof sums>, counted = all, iso_currency_code = "EUR") => ({
  iso_currency_code,
  ...all,
  counted,
});

it("adds the months of a list up", () => {
  const line = timeline([
    { period: "2026-11", count: 2, totals: [total(sums(1.5, 2, 2)), total(sums(5, 0, 1), sums(5, 0, 1), "USD")] },
    { period: "2026-10", count: 1, totals: [total(sums(0, 10.25, 1))] },
  ]);
  expect(sumsOf(line)).toEqual([
    { currency: "EUR", in: 150n, out: 1225n },
    { currency: "USD", in: 500n, out: 0n },
  ]);
  expect(line.uncounted).toBe(0);
});

it("leaves out of the sums what totals leave out, unless there is nothing else", () => {
  const transfer = total(sums(500, 500, 2), sums(0, 0, 0), "USD");
  const mixed = timeline([
    { period: "2026-11", count: 6, totals: [total(sums(300, 320, 4), sums(0, 20, 1)), transfer] },
  ]);
  expect(mixed.uncounted).toBe(5);
  expect(sumsOf(mixed)).toEqual([{ currency: "EUR", in: 0n, out: 2000n }]);
  expect(allSumsOf(mixed)).toHaveLength(2);
  const transfers = timeline([{ period: "2026-11", count: 2, totals: [transfer] }]);
  expect(transfers.uncounted).toBe(2);
  expect(sumsOf(transfers)).toEqual([{ currency: "USD", in: 50000n, out: 50000n }]);
});
