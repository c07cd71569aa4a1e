import { expect, test } from "vitest";
import type { Finding } from "#/api/findings";
import { kinds, why } from "./words";

const finding = (reason: Finding["reason"], usual: number | null) => ({ reason, usual }) as Finding;
const say = (n: bigint) => `€${n}`;

test("an alert says what is usual", () => {
  expect(why(finding("much_more_than_usual", 12.5), say)).toBe("Usually up to €1250");
  expect(why(finding("in_part", 40), say)).toBe("Partial refund of €4000");
  expect(why(finding("overdue", null), say)).toBe("Due, not received");
});

test("an income goes up, and a price increases", () => {
  expect(why(finding("price_increased", 9.99), say)).toBe("Price increase from €999");
  expect(why(finding("went_up", -3000), say)).toBe("Up from €300000");
  expect(why(finding("went_down", -3000), say)).toBe("Down from €300000");
});

test("each kind has one card", () => {
  expect(new Set(kinds.map((k) => k.kind)).size).toBe(6);
});
