import { expect, it } from "vitest";
import { namesRule, told } from "./told";

const names = {
  category: (s: string) => (s === "food_and_drink_groceries" ? "Groceries" : s),
  rule: (id: string) => (id === "rU1eRu1e" ? "Rent" : undefined),
  bank: (id: string) => (id === "8sKx2mPq" ? "Nordbank" : undefined),
};
const by = (summary: string, x: object = {}) =>
  told({ summary, actor_type: "user", actor_name: "Robin", cause: "api", ...x } as never, names);

it("says a deed in household words", () => {
  expect(
    by("Filed 12 transactions under food_and_drink_groceries, removed the tag needs-review from 12 transactions"),
  ).toBe("Robin filed 12 payments under Groceries, reviewed 12 payments");
  expect(by("Filed 2 transactions of REWE Markt under food_and_drink_groceries")).toBe(
    "Robin filed 2 payments of REWE Markt under Groceries",
  );
  expect(by("Tagged 1 transaction work")).toBe("Robin tagged 1 payment #work");
  expect(by("Removed the tag work from 2 transactions")).toBe("Robin took #work off 2 payments");
  expect(by("Linked 3 transactions to counterparty 8sKx2mPq")).toBe("Robin named the payee of 3 payments");
  expect(by("Unlinked 3 transactions from counterparty 8sKx2mPq")).toBe("Robin took the payee off 3 payments");
  expect(by("Merged counterparty 8sKx2mPq into rU1eRu1e")).toBe("Robin merged two payees");
  expect(by("Changed category food_and_drink_groceries")).toBe("Robin changed the category Groceries");
  expect(by("Reverted: Reverted: Deleted a comment")).toBe("Robin did again: deleted a comment");
  expect(by("Dismissed a finding L2K4UCE2")).toBe("Robin dismissed a finding");
  expect(by("Opened a finding again L2K4UCE2")).toBe("Robin opened a finding again");
  expect(by("Reverted: Tagged 4 transactions needs-review")).toBe("Robin undid: put 4 payments up for review");
});

it("calls rules and banks by their names", () => {
  expect(by("Made rule rU1eRu1e")).toBe("Robin made the rule “Rent”");
  expect(by("Deleted rule 99999999")).toBe("Robin deleted a rule");
  expect(by("Applied rule rU1eRu1e", { actor_type: "system", cause: "rule" })).toBe("coffer applied the rule “Rent”");
  expect(by("Synced connection 8sKx2mPq", { actor_type: "system", cause: "sync" })).toBe("Synced Nordbank");
  expect(by("Synced connection 99999999", { actor_type: "system", cause: "sync" })).toBe("Synced a bank");
  expect(by("Synced connection 8sKx2mPq")).toBe("Robin synced Nordbank");
  expect(["Applied rule rU1eRu1e", "Applied 3 rules"].map((summary) => namesRule({ summary }))).toEqual([true, false]);
});

it("names who did what nobody did", () => {
  expect(by("Seeded", { actor_type: "system", cause: "api" })).toBe("coffer seeded");
});
