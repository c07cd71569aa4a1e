import { expect, it } from "vitest";
import type { AppliedPlan, PlanItem } from "#/api/plans";
import { aboutOf, appliedOf } from "./planned";

const item = (more: Partial<PlanItem>) => ({ seq: 1, before: null, after: null, record: null, ...more }) as PlanItem;

it("names what a plan is about", () => {
  expect(aboutOf(item({ subject: "rule", field: "record", record: { name: "Bakery → groceries" } as never }))).toBe(
    "New rule: Bakery → groceries",
  );
  expect(aboutOf(item({ subject: "account_link", field: "state", before: "proposed" }))).toBe("Linked accounts");
  expect(aboutOf(item({ subject: "call", tool: "apply_rules", found: 40 }))).toBe(
    "Then: apply rules (about 40 transactions)",
  );
});

it("says what was applied, and what stayed and why", () => {
  const skip = { seq: 2, subject: "transaction", subject_id: "x", field: "category", reason: "changed_since" };
  const a = {
    state: "applied",
    change_id: "c",
    change_ids: ["c"],
    applied: 3,
    bound: 0,
    skipped: [skip],
    calls: [],
  } as AppliedPlan;
  expect(appliedOf(a)).toBe("3 changes applied. 1 field won’t change: changed since.");
  expect(appliedOf({ ...a, applied: 1, skipped: [], calls: [{ tool: "apply_rules", job_id: null }] })).toBe(
    "1 change applied. 1 follow-up step started.",
  );
  expect(appliedOf({ ...a, state: "dropped", applied: 0 })).toBe(
    "No changes were left to apply. 1 field won’t change: changed since.",
  );
});
