import { expect, it } from "vitest";
import type { Payee, PayeeDetail } from "#/api/payees";
import { monthsOf, otherPayees, ownAccount, searchOf } from "./payee";

const month = (month: string, iso_currency_code: string, money_out: number, money_in = 0) => ({
  month,
  iso_currency_code,
  money_out,
  money_in,
  count: 1,
});

it("adds up the last twelve months in one currency", () => {
  const p = {
    totals: [{ iso_currency_code: "EUR" }, { iso_currency_code: "USD" }],
    months: [
      month("2026-11", "EUR", 12.5),
      month("2026-11", "USD", 99),
      month("2025-12", "EUR", 5, 7),
      month("2025-11", "EUR", 1000),
    ],
  } as unknown as PayeeDetail;
  const months = monthsOf(p, "2026-11");
  expect(months.bars.map((b) => b.month)).toEqual(
    "2025-12 2026-01 2026-02 2026-03 2026-04 2026-05 2026-06 2026-07 2026-08 2026-09 2026-10 2026-11".split(" "),
  );
  expect([months.currency, months.total, months.count, months.bars[0]?.value]).toEqual(["EUR", 1050n, 2, -200n]);
});

it("is empty for a payee of nothing", () => {
  expect(monthsOf({ totals: [], months: [] } as unknown as PayeeDetail, "2026-11").total).toBe(0n);
});

it("knows payees that are own accounts, which are not summed", () => {
  const kind = (category: string) => (category.startsWith("transfers") ? "transfer" : "expense");
  const own = (...categories: (string | null)[]) =>
    ownAccount({ totals: categories.map((category) => ({ category })) } as unknown as PayeeDetail, kind);
  expect([own("transfers_savings"), own("transfers_savings", "transfers")]).toEqual([true, true]);
  expect([own("home_rent"), own("transfers", "home_rent"), own(null), own()]).toEqual([false, false, false, false]);
});

it("searches for a payee's own transactions", () => {
  const counterparty = { id: "0190-uuid", short_id: "c2", name: "Bakery" };
  expect(searchOf({ payee: "k1", counterparty })).toEqual({ counterparty: "0190-uuid" });
  expect(searchOf({ payee: "k1", counterparty: null })).toEqual({ payee: "k1", counterparty: "none" });
});

it("offers every other payee once, by name", () => {
  const one = (payee: string, payee_name: string, short_id?: string) =>
    ({ payee, payee_name, counterparty: short_id ? { short_id } : null }) as unknown as Payee;
  const all = [one("k1", "Zoo"), one("k2", "Bakery", "c2"), one("k3", "Bakery", "c2"), one("k4", "Own", "c4")];
  expect(otherPayees(all, one("k4", "Own", "c4") as unknown as PayeeDetail).map((p) => p.payee_name)).toEqual([
    "Bakery",
    "Zoo",
  ]);
  expect(otherPayees([one("k1", "Zoo")], one("k1", "Zoo") as unknown as PayeeDetail)).toEqual([]);
});
