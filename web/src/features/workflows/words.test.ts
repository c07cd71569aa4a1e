import { expect, it } from "vitest";
import { planned } from "#/parts/plans";
import { limitOf, nextOf, recordOf, startsOf, took } from "./words";

it("says what starts it", () => {
  expect(startsOf({ trigger: "schedule", schedule_text: "every Monday at 07:00" })).toBe("Every Monday at 07:00");
  expect(startsOf({ trigger: "after_sync", schedule_text: null })).toBe("After new transactions sync");
  expect(startsOf({ trigger: "manual", schedule_text: null })).toBe("Manually");
});

it("says when it starts next", () => {
  const now = new Date(2026, 10, 16, 9, 30);
  const next_run_at = new Date(2026, 10, 17, 7).toISOString();
  const w = { trigger: "schedule" as const, schedule: "0 7 * * *", enabled: true, next_run_at };
  expect(nextOf(w, now)).toBe("Next run tomorrow at 07:00");
  expect(nextOf({ ...w, next_run_at: now.toISOString() }, now)).toBe("Starting soon");
  expect(nextOf({ ...w, enabled: false }, now)).toBe("Off · run it manually");
  expect(nextOf({ ...w, trigger: "manual" }, now)).toBe("Runs manually");
  expect(nextOf({ ...w, trigger: "after_sync", next_run_at: null }, now)).toBe("Runs after new transactions sync");
});

it("counts only what somebody reviewed", () => {
  const r = { decisions: 300, kept: 212, corrected: 1, reverted: 0, dropped: 1, open: 0 };
  expect(recordOf(r)).toBe("212 of 214 reviewed changes kept");
  expect(recordOf({ ...r, open: 86 })).toBe("212 of 214 reviewed changes kept, 86 not reviewed yet");
  const none = { decisions: 0, kept: 0, corrected: 0, reverted: 0, dropped: 0, open: 0 };
  expect(recordOf(none)).toBe("No changes yet");
  expect(recordOf({ ...none, decisions: 1, open: 1 })).toBe("1 change, none reviewed yet");
});

it("names limits and plans in words", () => {
  const of = { max_turns: 12, max_minutes: 1, max_cost_usd: null, max_writes: 200 };
  expect(limitOf("max_turns", of)).toBe("Stopped at its limit of 12 turns.");
  expect(limitOf("max_writes", of)).toBe("Reached its limit of 200 transactions. The rest needs your approval.");
  expect(limitOf(null, of)).toBeNull();
  expect(planned({ state: "waiting", transactions: 2, entries: 3, calls: 0 })).toBe(
    "Would change 2 transactions (3 changes)",
  );
  expect(planned({ state: "waiting", transactions: 0, entries: 1, calls: 1 })).toBe(
    "Would make 1 change · Would run 1 step",
  );
  expect(planned({ state: "waiting", transactions: 0, entries: 0, calls: 2 })).toBe("Would run 2 steps");
});

it("says how long it took", () => {
  expect(took(null, null)).toBe("Not started");
  expect(took("2026-11-16T09:00:00Z", "2026-11-16T09:00:01Z")).toBe("1 second");
  expect(took("2026-11-16T09:00:00Z", null, Date.parse("2026-11-16T09:10:00Z"))).toBe("10 minutes");
});
