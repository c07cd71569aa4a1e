import { expect, it } from "vitest";
import { limitOf, nextOf, planned, recordOf, startsOf, took } from "./words";

it("says what starts it", () => {
  expect(startsOf({ trigger: "schedule", schedule_text: "every Monday at 07:00" })).toBe("Every Monday at 07:00");
  expect(startsOf({ trigger: "after_sync", schedule_text: null })).toContain("After a sync");
  expect(startsOf({ trigger: "manual", schedule_text: null })).toBe("When you start it");
});

it("says when it starts next", () => {
  const now = new Date(2026, 10, 16, 9, 30);
  const next_run_at = new Date(2026, 10, 17, 7).toISOString();
  const w = { trigger: "schedule" as const, schedule: "0 7 * * *", enabled: true, next_run_at };
  expect(nextOf(w, now)).toBe("Starts tomorrow at 07:00");
  expect(nextOf({ ...w, next_run_at: now.toISOString() }, now)).toBe("Starts in a moment");
  expect(nextOf({ ...w, enabled: false }, now)).toBe("Off: starts only when you start it");
  expect(nextOf({ ...w, trigger: "manual" }, now)).toBe("Starts when you start it");
  expect(nextOf({ ...w, trigger: "after_sync", next_run_at: null }, now)).toContain("after a sync");
});

it("counts only what somebody looked at", () => {
  const r = { decisions: 300, kept: 212, corrected: 1, reverted: 0, dropped: 1, open: 0 };
  expect(recordOf(r)).toBe("Right 212 of 214 times that somebody looked");
  expect(recordOf({ ...r, open: 86 })).toBe("Right 212 of 214 times that somebody looked, 86 not looked at yet");
  const none = { decisions: 0, kept: 0, corrected: 0, reverted: 0, dropped: 0, open: 0 };
  expect(recordOf(none)).toBe("No decisions yet");
  expect(recordOf({ ...none, decisions: 1, open: 1 })).toBe("1 decision, none looked at yet");
});

it("names limits and plans in words", () => {
  const of = { max_turns: 12, max_minutes: 1, max_cost_usd: null, max_writes: 200 };
  expect(limitOf("max_turns", of)).toBe("It reached its limit of 12 turns and ended.");
  expect(limitOf("max_writes", of)).toContain("200. The rest is a plan");
  expect(limitOf(null, of)).toBeNull();
  expect(planned({ state: "waiting", transactions: 2, entries: 3, calls: 0 })).toBe(
    "Would change 2 payments, 3 fields",
  );
  expect(planned({ state: "waiting", transactions: 0, entries: 1, calls: 1 })).toBe(
    "Would change 1 field, then 1 step",
  );
  expect(planned({ state: "waiting", transactions: 0, entries: 0, calls: 2 })).toBe("Would make 2 steps");
});

it("says how long it took", () => {
  expect(took(null, null)).toBe("Not started yet");
  expect(took("2026-11-16T09:00:00Z", "2026-11-16T09:00:01Z")).toBe("1 second");
  expect(took("2026-11-16T09:00:00Z", null, Date.parse("2026-11-16T09:10:00Z"))).toBe("10 minutes");
});
