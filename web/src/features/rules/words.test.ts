import { expect, it } from "vitest";
import { parse } from "./tree";
import { phraseOf, sentenceOf, stageOf } from "./words";

const names = { category: (s: string) => s.toUpperCase(), account: (id: string) => `account ${id}` };

it("says a rule in one sentence", () => {
  const when = parse({
    and: [
      { field: "merchant_name", op: "in", value: ["Rewe", "Edeka"] },
      { field: "amount", op: "lt", value: 150 },
      {
        not: {
          or: [
            { field: "account_id", op: "eq", value: "7" },
            { field: "tags", op: "contains", value: "work" },
          ],
        },
      },
    ],
  });
  expect(
    sentenceOf(
      when,
      [
        { type: "set_category", category_slug: "food" },
        { type: "add_tag", tag_slug: "home" },
      ],
      names,
    ),
  ).toBe(
    "If merchant (from bank) is any of “Rewe” or “Edeka” and amount is less than 150 and (not (account is account 7 or tags include “work”)), set the category to FOOD and add the tag home.",
  );
  expect(sentenceOf(parse({}), [{ type: "set_category", category_slug: "" }], names)).toBe(
    "For all transactions, set the category to …",
  );
  expect(sentenceOf(parse({}), [{ type: "add_tag", tag_slug: "seen" }], names)).toBe(
    "For all transactions, add the tag seen.",
  );
});

it("has words for what the editor does not offer", () => {
  expect(phraseOf("account_id", "in")).toBe("Account is any of");
  expect(phraseOf("colour", "eq")).toBe("colour is");
});

it("names the stage of a priority", () => {
  expect([0, 9, 10, 49, 50, 99, 100, 1000].map((p) => stageOf(p)?.stage)).toEqual([
    "baseline",
    "baseline",
    "standard",
    "standard",
    "refinement",
    "refinement",
    "override",
    "override",
  ]);
});
