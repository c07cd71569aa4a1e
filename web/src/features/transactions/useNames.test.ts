import { expect, it } from "vitest";
import type { Payee } from "#/api/payees";
import { payeeChoices, payeeIn, payeeOf } from "./useNames";

it("knows which payee an address is about", () => {
  expect(payeeIn({ counterparty: "c2" })).toBe("c2");
  expect(payeeIn({ payee: "k1", counterparty: "none" })).toBe("k1");
  expect(payeeIn({ counterparty: "none" })).toBeUndefined();
  expect(payeeIn({ category: "food" })).toBeUndefined();
});

it("offers each payee once, and what is picked leads back to it", () => {
  const one = (payee: string, payee_name: string, count: number, id?: string) =>
    ({ payee, payee_name, count, counterparty: id ? { id } : null }) as unknown as Payee;
  const choices = payeeChoices([one("k2", "Bakery", 7, "uuid"), one("k1", "Zoo", 3), one("k2", "Bakery", 2, "uuid")]);
  expect(choices).toEqual([
    { value: "id:uuid", label: "Bakery", hint: "9" },
    { value: "key:k1", label: "Zoo", hint: "3" },
  ]);
  expect(choices.map((c) => payeeIn(payeeOf(c.value)))).toEqual(["uuid", "k1"]);
});
