import { expect, it } from "vitest";
import { matching, named, ranked, suggested, usual } from "./addKnown";

const account = (id: string, more: object = {}) => ({
  id,
  name: id,
  display_name: null,
  iso_currency_code: "EUR",
  provider: "csv",
  type: "depository",
  user_id: null,
  hidden: false,
  closed_on: null,
  ...more,
});

it("puts one's own accounts first, and leaves out those that are closed or hidden", () => {
  const all = [
    account("his", { user_id: "daniel" }),
    account("nobody's"),
    account("my card", { user_id: "anna", type: "credit" }),
    account("my purse", { user_id: "anna", provider: "manual" }),
    account("old", { user_id: "anna", closed_on: "2026-01-01" }),
    account("hidden", { user_id: "anna", hidden: true }),
  ];
  expect(ranked(all, "anna", "EUR").map((a) => a.id)).toEqual(["my purse", "my card", "nobody's", "his"]);
  expect(ranked([], "anna", "EUR")).toEqual([]);
});

it("presets an account in the household’s currency, unless another was used last or is the only one", () => {
  const dollars = { iso_currency_code: "USD" };
  const all = [
    account("a dollars", { user_id: "anna", provider: "manual", ...dollars }),
    account("his", { user_id: "daniel" }),
    account("my giro", { user_id: "anna" }),
    account("shared"),
  ];
  const accounts = ranked(all, "anna", "EUR");
  expect(accounts.map((a) => a.id)).toEqual(["my giro", "shared", "a dollars", "his"]);
  const known = { accounts, payees: [], categories: [] };
  expect(usual(known)?.id).toBe("my giro");
  expect(usual({ ...known, last: "a dollars" })?.id).toBe("a dollars");
  expect(usual({ ...known, last: "closed since" })?.id).toBe("my giro");
  expect(usual({ ...known, accounts: ranked(all.slice(0, 1), "anna", "EUR") })?.id).toBe("a dollars");
});

it("suggests whom one pays oneself, with the newest category and one's own account", () => {
  const accounts = ranked([account("his", { user_id: "daniel" }), account("mine", { user_id: "anna" })], "anna", "EUR");
  const row = (payee_name: string | null, category: string | null, account_id: string, amount = 5) => ({
    payee_name,
    name: "RAW",
    category,
    account_id,
    amount,
  });
  const rows = [
    row("Rewe", null, "his"),
    row("Rewe", "groceries", "mine"),
    row("Salary", "income", "mine", -2000),
    row("Bakery", "coffee", "mine"),
    row("Kiosk", "news", "his"),
    row(null, null, "his"),
  ];
  const payees = suggested(
    rows,
    [
      { payee_name: "Rewe", count: 9, category: null },
      { payee_name: "Dentist", count: 1, category: "health" },
    ],
    accounts,
  );
  expect(payees.map((p) => p.name)).toEqual(["Rewe", "Bakery", "Kiosk", "RAW", "Salary", "Dentist"]);
  expect(payees[0]).toEqual({ name: "Rewe", count: 2, category: "groceries", account: "mine" });
});

it("finds payees by what is typed", () => {
  const all = ["Café Krone", "Zeit für Brot", "Brotfabrik", "Rewe"].map((name) => ({ name, count: 1 }));
  expect(matching(all, "").map((p) => p.name)).toEqual(["Café Krone", "Zeit für Brot", "Brotfabrik", "Rewe"]);
  expect(matching(all, "brot").map((p) => p.name)).toEqual(["Brotfabrik", "Zeit für Brot"]);
  expect(matching(all, "cafe").map((p) => p.name)).toEqual(["Café Krone"]);
  expect(matching(all, "x")).toEqual([]);
  expect(named(all, " REWE ")?.name).toBe("Rewe");
});
