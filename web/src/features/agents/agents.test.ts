import { expect, it } from "vitest";
import type { Key } from "#/api/keys";
import type { Assistant, Member } from "#/api/people";
import { agentsOf, weekOf } from "./agents";

const key = (name: string, actor_type: string, more: Partial<Key> = {}) =>
  ({
    id: name,
    name,
    key_prefix: "coffer_x",
    actor_name: null,
    scope: "read_only",
    actor_type,
    may: [],
    ...more,
  }) as Key;

const record = { decisions: 3, kept: 3, corrected: 0, reverted: 0, open: 0 };

it("lists connected agents, the last used first", () => {
  const all = agentsOf(
    [
      key("person", "user"),
      key("old", "agent", { revoked_at: "2026-01-01T00:00:00Z" }),
      key("idle", "agent", { last_used_at: null }),
      key("busy", "agent", { last_used_at: "2026-11-02T00:00:00Z", actor_name: "Tidy" }),
    ],
    [
      {
        id: "a",
        name: "Desk",
        user_id: "m",
        scope: "full_access",
        last_used_at: "2026-11-03T00:00:00Z",
        record,
      } as Assistant,
    ],
    [{ id: "m", name: "Robin" } as Member],
  );
  expect(all.map((a) => a.name)).toEqual(["Desk", "Tidy", "idle"]);
  expect(all[0]?.limit).toBe(2000);
  expect(all[0]?.description).toBe("Robin’s assistant");
  expect(all.map((a) => a.record)).toEqual(["3 of 3 kept", null, null]);
});

it("says what was changed", () => {
  expect(weekOf({ changes: 0, payments: 0, undone: 0, more: false })).toBe("No changes");
  expect(weekOf({ changes: 1, payments: 31, undone: 1, more: false })).toBe("31 transactions in 1 change, all undone");
  expect(weekOf({ changes: 200, payments: 1, undone: 3, more: true })).toBe(
    "more than 1 transaction in more than 200 changes, 3 undone",
  );
});
