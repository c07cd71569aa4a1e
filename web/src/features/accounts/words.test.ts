import { expect, it } from "vitest";
import type { Account } from "#/api/accounts";
import type { SyncLog } from "#/api/connections";
import { covering, grouped, missing, outcomeOf, stateOf, unsetKind } from "./words";

const now = new Date(2026, 10, 16, 9, 0);
const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 40).toISOString();
const bank = {
  provider: "plaid" as const,
  status: "active" as const,
  status_message: null,
  status_reason: null,
  paused: false,
  consent_expires_at: null,
  last_sync_at: at(16, 7),
  next_sync_at: at(16, 13),
};

it("says what is so and what comes next", () => {
  expect(stateOf(bank, now)).toBe("Last synced 07:40 · next sync about 13:40");
  expect(stateOf({ ...bank, paused: true }, now)).toBe("Paused · last synced 07:40");
  expect(stateOf({ ...bank, last_sync_at: null, next_sync_at: at(16, 8) }, now)).toBe(
    "Not synced yet · next sync about now",
  );
  expect(stateOf({ ...bank, status: "pending_reauth", consent_expires_at: at(2, 7) }, now)).toBe(
    "Access expired Mon 2 Nov",
  );
  expect(stateOf({ ...bank, status: "error" }, now)).toBe("Sync failed · last synced 07:40 · retrying about 13:40");
  expect(stateOf({ ...bank, provider: "csv" }, now)).toBe("Imported statements · last 07:40");
});

it("counts the days that were not read", () => {
  const days = covering([{ from: "2026-10-01", to: "2026-11-13" }], "2026-11-16", 5);
  expect(days.map((d) => d.read)).toEqual([true, true, false, false, false]);
  expect(missing(days)).toBe(3);
  expect(missing(days.slice(0, 3))).toBe(0);
});

it("keeps the kinds in their order", () => {
  const a = (type: string, subtype: string | null, user_name: string | null) =>
    ({ type, subtype, user_name }) as Account;
  const all = [a("loan", null, "Robin"), a("depository", "savings", null), a("depository", "checking", "Maja")];
  expect(grouped(all, "kind").map(([k]) => k)).toEqual(["Checking and cash", "Savings", "Loans"]);
  expect(grouped(all, "person").map(([k]) => k)).toEqual(["Maja", "No owner", "Robin"]);
});

it("tells what a sync did", () => {
  const log = { status: "success", added: 3, modified: 0, removed: 1, quarantined: 0 } as SyncLog;
  expect(outcomeOf(log)).toBe("3 new, 1 removed");
  expect(outcomeOf({ ...log, added: 0, removed: 0 })).toBe("No changes");
});

it("asks for the type of an account if the bank says none", () => {
  const said = (more: Partial<Account>) => unsetKind({ type: "other", subtype: null, ...more } as Account);
  expect(said({})).toBe("Choose type");
  expect(said({ type: "credit", type_guessed: true })).toBe("Choose type");
  expect(said({ subtype: "gift_card" })).toBe("Gift card (from bank)");
});
