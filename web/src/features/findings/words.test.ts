import { expect, test } from "vitest";
import type { Finding } from "#/api/findings";
import { kinds, why } from "./words";

const finding = (reason: Finding["reason"], usual: number | null) => ({ reason, usual }) as Finding;
const say = (n: bigint) => `€${n}`;

test("a finding says what is usual", () => {
  expect(why(finding("much_more_than_usual", 12.5), say)).toBe("usually not more than €1250");
  expect(why(finding("in_part", 40), say)).toBe("part of €4000");
  expect(why(finding("overdue", null), say)).toBe("expected then, and did not come");
});

test("wages go up, and prices get dearer", () => {
  expect(why(finding("dearer", 9.99), say)).toBe("was €999, got dearer");
  expect(why(finding("went_up", -3000), say)).toBe("was €300000, went up");
  expect(why(finding("went_down", -3000), say)).toBe("was €300000, went down");
});

test("each kind has one card", () => {
  expect(new Set(kinds.map((k) => k.kind)).size).toBe(6);
});
