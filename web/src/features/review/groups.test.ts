import { expect, it } from "vitest";
import { groupsOf, payeeKey, reasonOf } from "./groups";

const row = (x: object) =>
  ({
    id: Math.random().toString(),
    name: "REWE 123",
    merchant_name: null,
    counterparty_name: null,
    amount: 1.5,
    iso_currency_code: "EUR",
    category: "food",
    category_display_name: "Food",
    category_source: "provider",
    account_name: "Giro",
    pending: false,
    ...x,
  }) as never;

it("knows a payee by its letters", () => {
  expect(payeeKey("REWE SAGT DANKE. 46211")).toBe(payeeKey("Rewe sagt danke 9"));
  expect(payeeKey("Café Krone")).toBe("cafe krone");
  expect(payeeKey("4711")).toBe("4711");
});

it("puts spellings together, and what is sure first", () => {
  const groups = groupsOf([
    row({ name: "Amazon", category: "shop" }),
    row({ name: "AMAZON", category: "media" }),
    row({ name: "amazon 7", category: null }),
    row({ name: "REWE 1" }),
    row({ name: "REWE 2", amount: 0.2 }),
  ]);
  expect(groups.map((g) => [g.name, g.rows.length, g.sure])).toEqual([
    ["REWE 1", 2, true],
    ["Amazon", 3, false],
  ]);
  expect([...(groups[0]?.sums ?? [])]).toEqual([["EUR", 170n]]);
});

it("keeps refunds and pending payments out of what is sure", () => {
  const groups = groupsOf([row({}), row({ amount: -1 }), row({ name: "Bar", pending: true })]);
  expect(groups).toHaveLength(3);
  expect(groups.find((g) => g.name === "Bar")?.sure).toBe(false);
});

it("says who suggests it", () => {
  const [g] = groupsOf([row({}), row({ category: "fun" }), row({})]);
  expect(g && reasonOf(g)).toBe("The bank says so for 2 of 3");
  const [none] = groupsOf([row({ category: null })]);
  expect(none && reasonOf(none)).toBe("The bank gave none, and no rule matched");
});
