import { expect, it } from "vitest";
import { annotationText } from "./annotationText";

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

it("says what happened in plain words", () => {
  expect(annotationText(a({ kind: "category", after: "food" }), up)).toBe("Maja set the category to FOOD");
  expect(annotationText(a({ kind: "category", before: "food", after: "fun" }), up)).toBe(
    "Maja changed the category from FOOD to FUN",
  );
  expect(annotationText(a({ kind: "category", action: "agreed", before: "food", after: "food" }), up)).toBe(
    "Maja approved FOOD",
  );
  expect(annotationText(a({ kind: "category", action: "released", before: "food", after: "food" }), up)).toBe(
    "Maja undid the approval of FOOD",
  );
  expect(annotationText(a({ kind: "tag", action: "added", after: "work", rule_name: "Work" }), up)).toBe(
    "Rule “Work” added #work",
  );
  expect(annotationText(a({ kind: "tag", action: "removed", before: "work" }), up)).toBe("Maja removed #work");
  expect(annotationText(a({ kind: "sync", action: "posted" }), up)).toBe("Posted by the bank");
  expect(annotationText(a({ kind: "sync", action: "removed" }), up)).toBe("Maja deleted the transaction");
});
