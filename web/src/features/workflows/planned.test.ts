import { expect, it } from "vitest";
import type { AppliedPlan, PlanItem } from "#/api/plans";
import { aboutOf, appliedOf, approvedBy, isApproval } from "./planned";

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

it("names the category that is approved: the proposed one, unless that is left out", () => {
  const of = { subject: "transaction", transaction_id: "x", category: "food" } as const;
  const move = item({ ...of, seq: 1, field: "category", before: "pets", after: "food" });
  const review = item({ ...of, seq: 2, field: "tag", before: "needs-review" });
  const other = item({ ...of, seq: 3, field: "tag", before: "needs-review", transaction_id: "y", category: null });
  expect([move, review, other].map(isApproval)).toEqual([false, true, true]);
  const all = [move, review, other];
  expect(approvedBy(review, all, new Set())).toBe("food");
  expect(approvedBy(review, all, new Set([1]))).toBe("pets");
  expect(approvedBy(other, all, new Set([1]))).toBeNull();
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
