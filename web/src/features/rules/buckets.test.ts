import { expect, it } from "vitest";
import type { Rehearsal } from "#/api/rules";
import { figures, summary } from "./buckets";

const by = { rule_id: "1", index: null, name: "Office lunch" };
const rehearsal = {
  matched: 150,
  changed: 41,
  counts: { changes: 52, already_so: 246, held: 0, overridden: 16 },
  by_rule: [{ effects: [{ overridden_by: by }] }],
} as unknown as Rehearsal;

it("counts transactions, and says which rule overrides", () => {
  expect(figures(rehearsal).map((f) => [f.count, f.says])).toEqual([
    [41, "52 changes"],
    [246, "values already set"],
    [0, "none"],
    [16, "by “Office lunch”"],
  ]);
});

it("is one line where there is no room", () => {
  expect(summary(rehearsal)).toBe("41 will change · 246 unchanged · 16 overridden");
});
