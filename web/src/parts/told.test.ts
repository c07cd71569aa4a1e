import { expect, it } from "vitest";
import { namesRule, told } from "./told";

const names = {
  category: (s: string) => (s === "food_and_drink_groceries" ? "Groceries" : s),
  rule: (id: string) => (id === "rU1eRu1e" ? "Rent" : undefined),
  bank: (id: string) => (id === "8sKx2mPq" ? "Nordbank" : undefined),
};
const by = (summary: string, x: object = {}) =>
  told({ summary, actor_type: "user", actor_name: "Robin", cause: "api", ...x } as never, names);

it("puts a summary into the words of the screens", () => {
  expect(
    by("Filed 12 transactions under food_and_drink_groceries, removed the tag needs-review from 12 transactions"),
  ).toBe("Robin categorized 12 transactions as Groceries, reviewed 12 transactions");
  expect(by("Filed 2 transactions of REWE Markt under food_and_drink_groceries")).toBe(
    "Robin categorized 2 REWE Markt transactions as Groceries",
  );
  expect(
    by("Removed the tag needs-review from 5 transactions of Kiosk, agreed to the category of 5 transactions"),
  ).toBe("Robin approved 5 Kiosk transactions");
  expect(by("Removed the tag needs-review from 5 transactions, agreed to the category of 3 transactions")).toBe(
    "Robin reviewed 5 transactions, and approved 3 transactions",
  );
  expect(by("Tagged 1 transaction work")).toBe("Robin added #work to 1 transaction");
  expect(by("Removed the tag work from 2 transactions")).toBe("Robin removed #work from 2 transactions");
  expect(by("Linked 3 transactions to counterparty 8sKx2mPq")).toBe("Robin set the payee of 3 transactions");
  expect(by("Unlinked 3 transactions from counterparty 8sKx2mPq")).toBe("Robin removed the payee from 3 transactions");
  expect(by("Merged counterparty 8sKx2mPq into rU1eRu1e")).toBe("Robin merged two payees");
  expect(by("Changed category food_and_drink_groceries")).toBe("Robin edited the category Groceries");
  expect(by("Reverted: Reverted: Deleted a comment")).toBe("Robin redid: deleted a comment");
  expect(by("Dismissed a finding L2K4UCE2")).toBe("Robin dismissed an alert");
  expect(by("Opened a finding again L2K4UCE2")).toBe("Robin reopened an alert");
  expect(by("Named a recurring payment L2K4UCE2")).toBe("Robin named a recurring payment");
  expect(by("Set a monthly target for food_and_drink_groceries")).toBe("Robin added a Groceries budget");
  expect(by("Reverted: Tagged 4 transactions needs-review")).toBe("Robin undid: marked 4 transactions for review");
});

it("reads the summaries of older and newer servers alike", () => {
  const pairs = [
    ["Filed 2 transactions under food_and_drink_groceries", "Categorized 2 transactions as food_and_drink_groceries"],
    ["Agreed to the category of 1 transaction of Kiosk", "Approved the category of 1 transaction of Kiosk"],
    ["Linked 3 transactions to counterparty 8sKx2mPq", "Set the counterparty of 3 transactions to 8sKx2mPq"],
    ["Unlinked 3 transactions from their counterparty", "Removed the counterparty of 3 transactions"],
    [
      "Unlinked 1 transaction from counterparty 8sKx2mPq",
      "Removed the counterparty of 1 transaction, which was 8sKx2mPq",
    ],
    ["Made tag work", "Created tag work"],
    ["Made category food_and_drink_groceries", "Created category food_and_drink_groceries"],
    ["Made rule rU1eRu1e", "Created rule rU1eRu1e"],
    ["Made 3 rules", "Created 3 rules"],
    ["Opened a finding again L2K4UCE2", "Reopened a finding L2K4UCE2"],
    ["Set a monthly target for food_and_drink_groceries", "Added a budget for food_and_drink_groceries"],
    ["Changed the target for food_and_drink_groceries", "Changed the budget for food_and_drink_groceries"],
    ["Deleted the target for food_and_drink_groceries", "Deleted the budget for food_and_drink_groceries"],
  ] as const;
  for (const [old, now] of pairs) expect(by(now)).toBe(by(old));
});

it("reads the sentences of older servers and of this one alike", () => {
  const both = [
    [
      "Filed 2 transactions of Kiosk under food_and_drink_groceries",
      "Categorized 2 transactions of Kiosk as food_and_drink_groceries",
    ],
    [
      "Removed the tag needs-review from 5 transactions, agreed to the category of 5 transactions",
      "Removed the tag needs-review from 5 transactions, approved the category of 5 transactions",
    ],
    [
      "Linked 3 transactions of Kiosk to counterparty 8sKx2mPq",
      "Set the counterparty of 3 transactions of Kiosk to 8sKx2mPq",
    ],
    ["Unlinked 3 transactions from their counterparty", "Removed the counterparty of 3 transactions"],
    ["Unlinked 3 transactions from counterparty 8sKx2mPq", "Removed counterparty 8sKx2mPq from 3 transactions"],
  ];
  for (const [older, now] of both) expect(by(now as string)).toBe(by(older as string));
  expect(by("Removed the counterparty of 3 transactions of Kiosk, tagged 3 transactions work")).toBe(
    "Robin removed the payee from 3 Kiosk transactions, added #work to 3 transactions",
  );
  expect(by("Categorized 2 transactions of Same as ever as food_and_drink_groceries, commented on 1 transaction")).toBe(
    "Robin categorized 2 Same as ever transactions as Groceries, commented on 1 transaction",
  );
  expect(by("Approved the category of 5 transactions of Kiosk, and 2 more changes")).toBe(
    "Robin approved 5 Kiosk transactions, and 2 more changes",
  );
  expect(by("Removed the tag work from 2 transactions of Kiosk & Sons, Bremen")).toBe(
    "Robin removed #work from 2 Kiosk & Sons, Bremen transactions",
  );
  expect(by("Created category food_and_drink_groceries")).toBe("Robin created the category Groceries");
  expect(by("Created tag work")).toBe("Robin created the tag #work");
  expect(by("Created rule rU1eRu1e")).toBe("Robin created the rule “Rent”");
  expect(by("Reopened a finding L2K4UCE2")).toBe("Robin reopened an alert");
  expect(by("Added a budget for food_and_drink_groceries")).toBe("Robin added a Groceries budget");
});

it("calls rules and banks by their names", () => {
  expect(by("Made rule rU1eRu1e")).toBe("Robin created the rule “Rent”");
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
