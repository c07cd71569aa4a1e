import { expect, it } from "vitest";
import type { Rehearsal, Rule } from "#/api/rules";
import { blank, formFrom, formOf, lacks, nameOf, overrulers, patchOf, specOf } from "./form";

const names = { category: (s: string) => (s === "food" ? "Groceries" : s), account: (id: string) => id };

it("makes a rule from a transaction", () => {
  const best = { rule: { name: "", conditions: { field: "merchant_name", op: "eq", value: "Rewe" } } } as never;
  const f = formFrom({ name: "REWE 4711", category: "shopping" }, "food", best);
  expect(specOf(f, names)).toEqual({
    name: "Rewe → Groceries",
    conditions: { field: "merchant_name", op: "eq", value: "Rewe" },
    actions: [{ type: "set_category", category_slug: "food" }],
    trigger: "on_create",
    priority: 10,
  });
  expect(formFrom({ name: "EDEKA 12", category: "food" }, undefined, undefined)).toMatchObject({
    when: { lines: [{ field: "name", op: "eq", value: "EDEKA 12" }] },
    actions: [{ category_slug: "food" }],
  });
});

it("begins with what every transaction has", () => {
  expect(blank.when.lines).toEqual([{ field: "name", op: "contains", value: "" }]);
});

it("says what is missing", () => {
  expect(lacks(blank)).toBe("Complete the conditions to see a preview.");
  const f = formFrom({ name: "Rewe", category: null }, undefined, undefined);
  expect(lacks(f)).toBe("Complete the action to see a preview.");
  expect(lacks({ ...f, actions: [] })).toBe("Add at least one action.");
  expect(lacks({ ...f, actions: [{ type: "add_tag", tag_slug: "home" }] })).toBe("");
  expect(lacks({ ...f, actions: [{ type: "assign_counterparty", counterparty_name: "Rewe" }] })).toBe("");
});

it("sends only what was touched", () => {
  const saved = {
    name: "Old",
    conditions: { and: [{ field: "name", op: "contains", value: "x" }] },
    actions: [{ type: "add_tag", tag_slug: "a" }],
    trigger: "always",
    priority: 20,
  } as unknown as Rule;
  const f = formOf(saved);
  expect(patchOf(f, saved)).toEqual({});
  expect(patchOf({ ...f, priority: 50 }, saved)).toEqual({ priority: 50 });
  expect(patchOf({ ...f, when: { mode: "all", lines: [] }, name: " " }, saved)).toEqual({ conditions: {} });
  expect(nameOf({ ...f, name: "", when: { mode: "all", lines: [] } }, names)).toBe("All transactions → add the tag a");
});

it("knows which rules override it", () => {
  const by = { rule_id: "7", index: null, name: "Lunch" };
  const r = { by_rule: [{ effects: [{ overridden_by: by }, { overridden_by: by }, {}] }] } as unknown as Rehearsal;
  expect(overrulers(r)).toEqual([{ id: "7", name: "Lunch" }]);
});
