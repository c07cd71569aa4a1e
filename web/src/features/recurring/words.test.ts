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
    transfer: false,
    direction: "out",
    iso_currency_code: "EUR",
    yearly_amount: 120,
    next_date: "2026-07-13",
    last_date: "2026-06-13",
    price_changes: [],
    ...r,
  }) as Recurring;
const today = "2026-06-30";

test("the household’s own name is used before the payee’s", () => {
  expect(called(one({}))).toBe("NETFLIX.COM");
  expect(called(one({ name: "Films" }))).toBe("Films");
});

test("says how often it is due and when next", () => {
  expect(when(one({}), today)).toBe("Monthly · next 13 Jul");
  expect(when(one({ status: "late", next_date: "2026-06-13" }), today)).toBe("Monthly · due 13 Jun");
  expect(when(one({ next_date: null, cadence: "yearly" }), today)).toBe("Yearly · ended 13 Jun");
  expect(when(one({ amount_type: "variable" }), today)).toBe("Monthly · next 13 Jul");
});

test("a price change has both prices", () => {
  const increase = { date: "2026-05-13", before: 12.99, after: 13.99, percent: 8, provisional: false };
  const say = (n: bigint) => money(n, "EUR");
  expect(change(one({}), today, say)).toBeUndefined();
  expect(change(one({ price_changes: [increase] }), today, say)).toEqual({
    text: "€12.99 → €13.99 since 13 May (+8%)",
    up: true,
  });
  const drop = { ...increase, after: 9.99, percent: -23, provisional: true };
  expect(change(one({ price_changes: [drop, increase] }), today, say)).toEqual({
    text: "€12.99 → €9.99 since 13 May (−23%, first time)",
    up: false,
  });
});

test("what is dismissed, ended or a transfer is not added up", () => {
  const all = [
    one({ next_date: "2026-08-01" }),
    one({ next_date: "2026-07-01", iso_currency_code: "USD" }),
    one({ state: "dismissed" }),
    one({ status: "ended" }),
    one({ direction: "in", yearly_amount: -600 }),
    one({ transfer: true, next_date: "2026-07-20" }),
    one({ transfer: true, direction: "in", yearly_amount: -120 }),
  ];
  const s = sorted(all);
  expect(s.out.map((r) => r.next_date)).toEqual(["2026-07-01", "2026-08-01"]);
  expect([s.in.length, s.own.length, s.ended.length, s.dismissed.length]).toEqual([1, 2, 1, 1]);
  expect([...yearly(s.out)]).toEqual([
    ["USD", 12000n],
    ["EUR", 12000n],
  ]);
  expect(yearly(s.in).get("EUR")).toBe(60000n);
});
