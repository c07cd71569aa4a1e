import { expect, test } from "vitest";
import type { Recurring } from "#/api/recurring";
import { money } from "#/lib/money";
import { called, change, marksOf, monthly, priceChanges, prices, recentChangeOf, sorted, when, yearly } from "./words";

const one = (r: Partial<Recurring>): Recurring =>
  ({
    name: null,
    payee_name: "NETFLIX.COM",
    group: "subscription",
    cadence: "monthly",
    amount_type: "fixed",
    status: "active",
    state: "auto",
    transfer: false,
    direction: "out",
    iso_currency_code: "EUR",
    amount: 10,
    monthly_amount: 10,
    yearly_amount: 120,
    first_date: "2024-01-13",
    next_date: "2026-07-13",
    last_date: "2026-06-13",
    price_changes: [],
    ...r,
  }) as Recurring;
const today = "2026-06-30";
const say = (n: bigint) => money(n, "EUR");
const increase = { date: "2026-05-13", before: 12.99, after: 13.99, percent: 8, provisional: false };

test("the household’s own name is used before the payee’s", () => {
  expect(called(one({}))).toBe("NETFLIX.COM");
  expect(called(one({ name: "Films" }))).toBe("Films");
});

test("contracts of one name are told apart by account, else by category, else by the bank’s text", () => {
  const all = [
    one({ id: "a", account_id: "giro", category: "phone" }),
    one({ id: "b", account_id: "card", category: "phone" }),
    one({ id: "c", account_id: "giro", category: "internet" }),
    one({ id: "d", account_id: "giro", category: "internet" }),
    one({ id: "e", account_id: "giro", category: "internet", name: "Our own name" }),
  ];
  expect(all.map((r) => marksOf(r, all))).toEqual([
    { account: true, category: true, text: false },
    { account: true, category: false, text: false },
    { account: true, category: true, text: true },
    { account: true, category: true, text: true },
    { account: false, category: false, text: false },
  ]);
});

test("says how often it is due and when next", () => {
  expect(when(one({}), today)).toBe("Monthly · next 13 Jul");
  expect(when(one({ status: "late", next_date: "2026-06-13" }), today)).toBe("Monthly · due 13 Jun");
  expect(when(one({ next_date: null, cadence: "yearly" }), today)).toBe("Yearly · ended 13 Jun");
  expect(when(one({ amount_type: "variable" }), today)).toBe("Monthly · next 13 Jul");
});

test("a price change has both prices, and asks for a look only while it is news and an increase", () => {
  expect(change(one({}), increase, today, say)).toEqual({
    prices: "€12.99 → €13.99",
    since: "Since 13 May",
    percent: "+8%",
    by: "+€1.00",
    mood: "warn",
  });
  const drop = { ...increase, after: 9.99, percent: -23, provisional: true };
  expect(change(one({}), drop, today, say)).toEqual({
    prices: "€12.99 → €9.99",
    since: "Since 13 May, first time",
    percent: "−23%",
    by: "−€3.00",
    mood: "in",
  });
  expect(change(one({ direction: "in" }), increase, today, say).mood).toBe("in");
  expect(change(one({}), { ...increase, date: "2024-05-13" }, today, say).mood).toBe("plain");
  expect(recentChangeOf(one({ price_changes: [increase] }), today)).toBe(increase);
  expect(recentChangeOf(one({ price_changes: [{ ...increase, date: "2024-05-13" }] }), today)).toBeUndefined();
  expect(priceChanges([one({ price_changes: [increase] }), one({})], today)).toEqual({ count: 1, by: 1200n });
});

test("what is dismissed, ended or a transfer is not added up", () => {
  const all = [
    one({ yearly_amount: 60 }),
    one({ iso_currency_code: "USD" }),
    one({ group: "bill", next_date: "2026-07-01" }),
    one({ state: "dismissed" }),
    one({ status: "ended" }),
    one({ group: "income", direction: "in", yearly_amount: -600, monthly_amount: -50 }),
    one({ group: "saving", transfer: true }),
    one({ group: "transfer", transfer: true }),
    one({ group: "transfer", transfer: true, direction: "in", yearly_amount: -120 }),
  ];
  const s = sorted(all);
  expect(s.groups.map((g) => [g.group, g.rows.length])).toEqual([
    ["subscription", 2],
    ["bill", 1],
    ["income", 1],
    ["saving", 1],
  ]);
  expect([s.transfers.length, s.ended.length, s.dismissed.length]).toEqual([2, 1, 1]);
  const subscriptions = s.groups[0]?.rows ?? [];
  expect([...yearly(subscriptions)]).toEqual([
    ["USD", 12000n],
    ["EUR", 6000n],
  ]);
  expect(monthly(s.groups[2]?.rows ?? []).get("EUR")).toBe(5000n);
});

test("the price over time begins with the first payment", () => {
  expect(prices(one({}))).toEqual([{ day: "2024-01-13", value: 1000n }]);
  const older = { ...increase, date: "2025-05-13", before: 11.99, after: 12.99 };
  expect(prices(one({ amount: 13.99, price_changes: [increase, older] }))).toEqual([
    { day: "2024-01-13", value: 1199n },
    { day: "2025-05-13", value: 1299n },
    { day: "2026-05-13", value: 1399n },
  ]);
});
