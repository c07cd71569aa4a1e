import { expect, it } from "vitest";
import { touches } from "./payees";

it("asks again for alerts, the overview and accounts, which show payees too", () => {
  expect(touches).toEqual(expect.arrayContaining(["transactions", "findings", "overview", "accounts"]));
});
