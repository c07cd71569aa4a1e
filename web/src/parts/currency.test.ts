import { expect, it } from "vitest";
import { shownCurrency } from "./currency";

it("begins with the currency that was chosen, then the household's", () => {
  expect(shownCurrency(["BRL", "EUR", "USD"], "EUR", "USD")).toBe("EUR");
  expect(shownCurrency(["BRL", "EUR", "USD"], undefined, "USD")).toBe("USD");
  expect(shownCurrency(["BRL", "EUR"], "XYZ", "USD")).toBe("BRL");
  expect(shownCurrency([], undefined)).toBe("");
});
