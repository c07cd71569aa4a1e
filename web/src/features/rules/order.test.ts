import { expect, it } from "vitest";
import { moved } from "./order";

type R = { id: string; priority: number; created_at: string; is_system: boolean };
const rule = (id: string, priority: number, age = id, is_system = false): R => ({
  id,
  priority,
  created_at: age,
  is_system,
});

function after(rules: R[], at: number, by: -1 | 1): string | null {
  const steps = moved(rules, at, by);
  if (!steps) return null;
  const now = rules.map((r) => ({ ...r, priority: steps.find((s) => s.id === r.id)?.priority ?? r.priority }));
  return now
    .sort((a, b) => a.priority - b.priority || a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id))
    .map((r) => r.id)
    .join("");
}

it("moves a rule past its neighbor, wherever it stands", () => {
  const rules = [rule("a", 0), rule("b", 10), rule("c", 10), rule("d", 10), rule("e", 50), rule("f", 100)];
  for (let at = 0; at < rules.length; at++)
    for (const by of [-1, 1] as const) {
      const to = at + by;
      const want = rules.map((r) => r.id);
      if (to < 0 || to >= rules.length) {
        expect(moved(rules, at, by)).toBeNull();
        continue;
      }
      want.splice(to, 0, ...want.splice(at, 1));
      expect(after(rules, at, by)).toBe(want.join(""));
    }
});

it("changes one rule if that is enough", () => {
  expect(moved([rule("b", 10), rule("a", 50)], 1, -1)).toEqual([{ id: "a", priority: 10 }]);
  expect(moved([rule("a", 10), rule("b", 10)], 0, 1)).toEqual([{ id: "a", priority: 11 }]);
});

it("leaves the built-in rule where it is", () => {
  const rules = [rule("a", 0, "2", true), rule("b", 0, "3")];
  expect(moved(rules, 1, -1)).toBeNull();
  expect(moved([rule("a", 1000), rule("b", 1000)], 0, 1)).toBeNull();
});
