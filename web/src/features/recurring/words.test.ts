import { expect, test } from "vitest";
import type { Recurring } from "#/api/recurring";
import { money } from "#/lib/money";
import { called, change, sorted, when, yearly } from "./words";

const one = (r: Partial<Recurring>): Recurring =>
  ({
    name: null,
    payee_name: "NETFLIX.COM",
    cadence: "monthly",
    amount_type: "fixed",
    status: "active",
    state: "auto",
    direction: "out",
    iso_currency_code: "EUR",
    yearly_amount: 120,
    next_date: "2026-07-13",
    last_date: "2026-06-13",
    price_changes: [],
    ...r,
  }) as Recurring;
const today = "2026-06-30";

test("the household's name stands for the payee's", () => {
  expect(called(one({}))).toBe("NETFLIX.COM");
  expect(called(one({ name: "Films" }))).toBe("Films");
});

test("when it comes is said in words", () => {
  expect(when(one({}), today)).toBe("every month · next 13 Jul");
  expect(when(one({ status: "late", next_date: "2026-06-13" }), today)).toBe("every month · expected 13 Jun");
  expect(when(one({ next_date: null, cadence: "yearly" }), today)).toBe("every year until 13 Jun");
  expect(when(one({ amount_type: "variable" }), today)).toBe("about this, every month · next 13 Jul");
});

test("a price change has both prices", () => {
  const dearer = { date: "2026-05-13", before: 12.99, after: 13.99, percent: 8, provisional: false };
  const say = (n: bigint) => money(n, "EUR");
  expect(change(one({}), today, say)).toBeUndefined();
  expect(change(one({ price_changes: [dearer] }), today, say)).toEqual({
    text: "€12.99 → €13.99 since 13 May (+8 %)",
    up: true,
  });
  const cheaper = { ...dearer, after: 9.99, percent: -23, provisional: true };
  expect(change(one({ price_changes: [cheaper, dearer] }), today, say)).toEqual({
    text: "€12.99 → €9.99 since 13 May (−23 %, once so far)",
    up: false,
  });
});

test("what is dismissed or over is not added up", () => {
  const all = [
    one({ next_date: "2026-08-01" }),
    one({ next_date: "2026-07-01", iso_currency_code: "USD" }),
    one({ state: "dismissed" }),
    one({ status: "ended" }),
    one({ direction: "in", yearly_amount: -600 }),
  ];
  const s = sorted(all);
  expect(s.out.map((r) => r.next_date)).toEqual(["2026-07-01", "2026-08-01"]);
  expect([s.in.length, s.ended.length, s.dismissed.length]).toEqual([1, 1, 1]);
  expect([...yearly(s.out)]).toEqual([
    ["USD", 12000n],
    ["EUR", 12000n],
  ]);
  expect(yearly(s.in).get("EUR")).toBe(60000n);
});
