import { expect, it } from "vitest";
import type { Pivot } from "#/api/transactions";
import { money } from "#/lib/money";
import { bar, budget, paid, planned, proposals, rounding, share, standing, taken, usualCurrency } from "./words";

const say = (c: bigint) => money(c, "EUR");
const target = {
  amount: 400,
  spent: 100,
  available: 300,
  carried: undefined,
  state: "within" as const,
  due: 0,
  expected: 200,
  start_month: "2026-01",
  end_month: null,
};

it("begins in a currency that accounts have", () => {
  const in_ = (iso_currency_code: string, hidden = false) => ({ iso_currency_code, hidden });
  expect(usualCurrency([], "EUR")).toBe("EUR");
  expect(usualCurrency([in_("GBP"), in_("USD"), in_("GBP")], "EUR")).toBe("GBP");
  expect(usualCurrency([in_("USD"), in_("GBP")], "EUR")).toBe("GBP");
  expect(usualCurrency([in_("GBP"), in_("GBP"), in_("EUR")], "EUR")).toBe("EUR");
  expect(usualCurrency([in_("GBP"), in_("EUR", true)], "EUR")).toBe("GBP");
});

it("says how a budget is going", () => {
  expect(standing(target, say)).toEqual({ text: "€300.00 left", mood: "" });
  expect(standing({ ...target, spent: 412.4, available: -12.4, state: "over" }, say).text).toBe("€12.40 over budget");
  expect(standing({ ...target, state: "ahead" }, say).text).toBe("€300.00 left, ahead of pace");
  expect(standing({ ...target, available: 20, due: 80, state: "ahead" }, say).text).toBe(
    "€20.00 left, €80.00 still due",
  );
  expect(standing({ ...target, available: null, state: "not_started" }, say).text).toBe("Starts January 2026");
  expect(standing({ ...target, available: null, state: "ended", end_month: "2026-06" }, say).text).toBe(
    "Ended June 2026",
  );
});

it("says what earlier months left", () => {
  expect(planned(target, say)).toBe("of €400.00");
  expect(planned({ ...target, carried: 20 }, say)).toBe("of €400.00 + €20.00 rolled over");
  expect(planned({ ...target, carried: -20 }, say)).toBe("of €400.00 − €20.00 overspent earlier");
});

it("draws what was spent of what the month has", () => {
  expect(bar(target)).toEqual({ value: 25, tick: 50 });
  expect(budget({ ...target, carried: -300 })).toBe(10_000n);
  expect(bar({ ...target, carried: -300 })).toEqual({ value: 100, tick: 100 });
  expect(bar({ ...target, carried: -400 })).toEqual({ value: 0, end: 0 });
  expect(bar({ ...target, spent: 500 })).toEqual({ value: 80, end: 80 });
  expect(bar({ ...target, spent: -5 })).toEqual({ value: 0, tick: 50 });
});

it("knows which categories have a budget, what was paid, and shares", () => {
  const have = [{ category: "home", iso_currency_code: "EUR" }];
  expect([taken(have, "home", ""), taken(have, "home", "usd"), taken(have, "home", "eur")]).toEqual([
    true,
    false,
    true,
  ]);
  expect(taken(have, "food", "")).toBe(false);
  const one = { recurring_id: "1", name: "Rent", amount: 1, date: "2026-01-01" };
  expect(paid([{ payments: [{ ...one, paid: true }] }, { payments: [{ ...one, paid: false }] }, {}])).toEqual({
    paid: 1,
    all: 2,
  });
  expect([share(50n, 200n), share(1n, 0n)]).toEqual([25, 0]);
});

it("suggests round figures for what costs most and has no budget", () => {
  expect([1n, 500n, 501n, 9_999n, 10_000n, 10_001n].map(rounding)).toEqual([
    500n,
    500n,
    1000n,
    10_000n,
    10_000n,
    11_000n,
  ]);
  const row = (category: string | null, average?: number) => ({
    keys: { primary_category: category },
    iso_currency_code: "EUR",
    average,
  });
  const pivot = {
    rows: [row("food", 312.2), row("income", 900), row("home", 90), row("fun"), row(null, 50), row("gone", -3)],
  } as unknown as Pivot;
  const kind = (slug: string) => (slug === "income" ? "income" : "expense");
  expect(proposals(pivot, kind, [{ category: "home", iso_currency_code: "EUR" }])).toEqual([
    { category: "food", currency: "EUR", amount: 32_000n },
  ]);
});
