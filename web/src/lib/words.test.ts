import { expect, it } from "vitest";
import { transactions } from "./words";

it("counts transactions as people say it", () => {
  expect([0, 1, 2, 1234].map(transactions)).toEqual([
    "0 transactions",
    "1 transaction",
    "2 transactions",
    "1,234 transactions",
  ]);
});
