import { expect, test } from "vitest";
import type { Finding } from "#/api/findings";
import { countOf, inOrder, kindTitle, why } from "./alerts";

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

test("kinds come in our order, and those of a newer server last", () => {
  expect(inOrder(["refund", "new_kind", "duplicate", "refund", "new_kind"])).toEqual([
    "duplicate",
    "refund",
    "new_kind",
  ]);
  expect(kindTitle("refund")).toBe("Refunds");
  expect(kindTitle("new_kind")).toBe("Other alerts");
  expect(countOf("gap", 2)).toBe("2 balance mismatches");
  expect(countOf("new_kind", 1)).toBe("1 other alert");
  expect(why(finding("new_reason" as "overdue", null), say)).toBe("");
});
