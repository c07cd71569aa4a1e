import { expect, it } from "vitest";
import type { AppliedPlan, PlanItem } from "#/api/plans";
import { aboutOf, appliedOf } from "./planned";

const item = (more: Partial<PlanItem>) => ({ seq: 1, before: null, after: null, record: null, ...more }) as PlanItem;

it("names what a plan is about", () => {
  expect(aboutOf(item({ subject: "rule", field: "record", record: { name: "Bakery → groceries" } as never }))).toBe(
    "New rule: Bakery → groceries",
  );
  expect(aboutOf(item({ subject: "account_link", field: "state", before: "proposed" }))).toBe("Account link");
  expect(aboutOf(item({ subject: "call", tool: "apply_rules", found: 40 }))).toBe(
    "Then: apply rules, about 40 payments",
  );
});

it("says what was applied, and what stayed and why", () => {
  const skip = { seq: 2, subject: "transaction", subject_id: "x", field: "category", reason: "changed_since" };
  const a = { change_id: "c", change_ids: ["c"], applied: 3, skipped: [skip], calls: [] } as AppliedPlan;
  expect(appliedOf(a)).toBe("3 fields changed. 1 stays: changed since by somebody.");
  expect(appliedOf({ ...a, applied: 1, skipped: [], calls: [{ tool: "apply_rules", job_id: null }] })).toBe(
    "1 field changed. 1 step went on after that.",
  );
});
