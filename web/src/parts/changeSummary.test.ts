import { expect, it } from "vitest";
import { changeSummary } from "./changeSummary";

const ref = (name: string | null) => ({ id: "0", short_id: "0", name });
const by = (x: object) =>
  changeSummary({
    action: "mixed",
    of_action: null,
    subject: { kind: "transaction" },
    count: 1,
    with: {},
    payee: null,
    actor_type: "user",
    actor_name: "Robin",
    cause: "api",
    ...x,
  } as never);

it("says what a change did, from its data", () => {
  expect(by({ action: "categorized", count: 12, with: { category: ref("Groceries") } })).toBe(
    "Robin categorized 12 transactions as “Groceries”",
  );
  expect(by({ action: "reviewed", count: 5, payee: "Kiosk" })).toBe("Robin reviewed 5 “Kiosk” transactions");
  expect(by({ action: "queued", count: 4 })).toBe("Robin marked 4 transactions for review");
  expect(by({ action: "untagged", count: 2, with: { tag: ref("work") } })).toBe(
    "Robin removed the tag “work” from 2 transactions",
  );
  expect(by({ action: "categorized", with: { category: ref(null) } })).toBe(
    "Robin categorized 1 transaction as a deleted category",
  );
  expect(by({ action: "created", subject: { kind: "rule" }, count: 3 })).toBe("Robin added 3 rules");
  expect(by({ action: "dismissed", subject: { kind: "finding", id: "0" } })).toBe("Robin dismissed an alert");
  expect(by({ action: "merged", subject: { kind: "counterparty", name: "A" }, with: { into: ref("B") } })).toBe(
    "Robin merged the payee “A” into “B”",
  );
  expect(by({ action: "mixed", subject: null, count: 3 })).toBe("Robin made several changes to 3 transactions");
  expect(by({ action: "reverted", of_action: "queued", count: 4 })).toBe(
    "Robin undid: marked 4 transactions for review",
  );
  expect(by({ action: "redone", of_action: "deleted", subject: { kind: "tag", name: "x" } })).toBe(
    "Robin redid: deleted the tag “x”",
  );
});

it("says what was decided about linked accounts, and which", () => {
  const subject = { kind: "account_link", id: "0", name: "Checking ↔ Joint" };
  expect(by({ action: "linked", subject })).toBe("Robin linked the accounts “Checking ↔ Joint”");
  expect(by({ action: "linked", subject: { kind: "account_link" }, count: 3 })).toBe("Robin confirmed 3 account links");
  expect(by({ action: "link_rejected", subject })).toBe("Robin rejected the account link “Checking ↔ Joint”");
  expect(by({ action: "pair_rejected", subject })).toBe(
    "Robin rejected a match of the account link “Checking ↔ Joint”",
  );
  expect(by({ action: "reverted", of_action: "pair_confirmed", subject })).toBe(
    "Robin undid: confirmed a match of the account link “Checking ↔ Joint”",
  );
});

it("names what the banks do, and coffer", () => {
  const synced = { action: "synced", cause: "sync", actor_type: "system", with: { connection: ref("Nordbank") } };
  expect(by(synced)).toBe("Synced “Nordbank”");
  expect(by({ ...synced, with: {} })).toBe("Synced a bank");
  expect(by({ action: "rules_applied", actor_type: "system", cause: "rule", with: { rule: ref("Rent") } })).toBe(
    "coffer applied the rule “Rent” to 1 transaction",
  );
});

it("quotes names that read like sentences, and reads nothing from them", () => {
  expect(by({ action: "categorized", payee: "REVERTED: x", with: { category: ref("Clothing") } })).toBe(
    "Robin categorized 1 “REVERTED: x” transaction as “Clothing”",
  );
  expect(by({ action: "tagged", count: 3, with: { tag: ref("Tagged 3 transactions vacation") } })).toBe(
    "Robin added the tag “Tagged 3 transactions vacation” to 3 transactions",
  );
  expect(by({ action: "created", subject: { kind: "rule", name: "Deleted rule Records Ltd" } })).toBe(
    "Robin added the rule “Deleted rule Records Ltd”",
  );
  expect(by({ action: "payee_set", with: { counterparty: ref("Reverted: Reverted: y") } })).toBe(
    "Robin set the payee of 1 transaction to “Reverted: Reverted: y”",
  );
});
