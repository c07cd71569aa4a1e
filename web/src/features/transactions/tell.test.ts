import { expect, it } from "vitest";
import { tell } from "./tell";

const a = (x: object) =>
  ({
    before: null,
    after: null,
    actor_name: "Maja",
    actor_type: "user",
    rule_name: null,
    action: "set",
    ...x,
  }) as never;
const up = (s: string) => s.toUpperCase();

it("tells what happened in household words", () => {
  expect(tell(a({ kind: "category", after: "food" }), up)).toBe("Maja filed it under FOOD");
  expect(tell(a({ kind: "category", before: "food", after: "fun" }), up)).toBe("Maja moved it from FOOD to FUN");
  expect(tell(a({ kind: "tag", action: "added", after: "work", rule_name: "Work" }), up)).toBe(
    "Rule “Work” tagged it #work",
  );
  expect(tell(a({ kind: "tag", action: "removed", before: "work" }), up)).toBe("Maja took #work off");
  expect(tell(a({ kind: "sync", action: "posted" }), up)).toBe("The bank booked it");
});
