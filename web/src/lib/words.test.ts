import { expect, it } from "vitest";
import { payments } from "./words";

it("counts payments as people say it", () => {
  expect([0, 1, 2, 1234].map(payments)).toEqual(["0 payments", "1 payment", "2 payments", "1,234 payments"]);
});
