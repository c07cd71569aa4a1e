import { expect, it } from "vitest";
import { mainCurrency, pace, spent, sumsOf, thirteen } from "./figures";

const g = (
  keys: Record<string, string>,
  money_in: number,
  money_out: number,
  iso_currency_code = "EUR",
  count = 1,
) => ({
  keys,
  iso_currency_code,
  money_in,
  money_out,
  net: 0,
  count,
});

it("shows the currency with most payments first", () => {
  const months = [g({ month: "2026-11" }, 1, 2, "USD", 3), g({ month: "2026-11" }, 3, 4, "EUR", 9)];
  expect(mainCurrency(months)).toBe("EUR");
  expect(sumsOf(months, "2026-11", "EUR").map((s) => s.currency)).toEqual(["EUR", "USD"]);
  expect(mainCurrency([])).toBeNull();
});

it("has thirteen months, also empty ones", () => {
  const all = thirteen([g({ month: "2026-10" }, 0.1, 0.2)], "2026-11", "EUR");
  expect(all).toHaveLength(13);
  expect(all[0]?.month).toBe("2025-11");
  expect(all[11]).toEqual({ month: "2026-10", in: 10n, out: 20n });
});

it("adds day by day, and never another currency", () => {
  const days = [
    g({ day: "2026-11-01" }, 0, 0.1),
    g({ day: "2026-11-03" }, 0, 0.2),
    g({ day: "2026-11-03" }, 0, 99, "USD"),
  ];
  expect(pace(days, "2026-11", "EUR", 4)).toEqual([10n, 10n, 30n, 30n]);
});

it("takes refunds off and compares", () => {
  const now = [g({ category: "food_a" }, 1, 5), g({ category: "food_b" }, 0, 2), g({ category: "home" }, 0, 20)];
  const before = [g({ category: "food_a" }, 0, 3)];
  expect(spent(now, before, "EUR", (s) => s.split("_")[0] as string)).toEqual([
    { slug: "home", now: 2000n, before: 0n },
    { slug: "food", now: 600n, before: 300n },
  ]);
});
