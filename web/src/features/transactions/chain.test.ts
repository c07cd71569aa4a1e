import { expect, it } from "vitest";
import { chain } from "./chain";

const field = (f: object) =>
  ({
    field: "category",
    value: null,
    held: false,
    source: null,
    rule_name: null,
    note: null,
    set_at: null,
    change_id: null,
    ...f,
  }) as never;
const set = (a: object) =>
  ({
    kind: "category",
    actor_type: "user",
    actor_name: "Maja",
    rule_id: null,
    rule_name: null,
    note: null,
    ...a,
  }) as never;

it("says that the category is from the bank", () => {
  const [only, ...rest] = chain(field({ value: "shopping", source: "provider" }), [], "shopping");
  expect(only).toMatchObject({ value: "shopping", reason: "From the bank" });
  expect(rest).toEqual([]);
});

it("goes back from the person to the rule to the bank", () => {
  const links = chain(
    field({ value: "furniture", source: "user", actor_name: "Maja", held: true, change_id: "2" }),
    [
      set({ after: "shopping", before: "home", change_id: "1", rule_id: "r", rule_name: "Big shops", created_at: "1" }),
      set({ after: "furniture", before: "shopping", change_id: "2", created_at: "2" }),
    ],
    null,
  );
  expect(links.map((l) => [l.value, l.author.kind, l.held])).toEqual([
    ["furniture", "person", true],
    ["shopping", "rule", false],
    ["home", "bank", false],
  ]);
  expect(links[1]?.reason).toBe("Rule “Big shops”");
});

it("says who approved, and strikes out only values that were replaced", () => {
  const links = chain(
    field({ value: "shopping", source: "user", actor_name: "Maja", held: true, change_id: "2" }),
    [
      set({ after: "shopping", before: "home", change_id: "1", rule_id: "r", rule_name: "Big shops", created_at: "1" }),
      set({ after: "shopping", before: "shopping", action: "agreed", change_id: "2", created_at: "2" }),
    ],
    null,
  );
  expect(links.map((l) => [l.value, l.reason, l.over])).toEqual([
    ["shopping", "Approved by Maja", false],
    ["shopping", "Rule “Big shops”", false],
    ["home", "From the bank", true],
  ]);
});

it("names each line once, also while the history is newer than the reason", () => {
  const links = chain(
    field({ value: "shopping", source: "provider" }),
    [set({ id: "a1", after: "furniture", before: "shopping", change_id: "1", created_at: "1" })],
    null,
  );
  expect(links.map((l) => l.id)).toEqual(["now", "a1", "bank"]);
});
