import { expect, it } from "vitest";
import { kindIs, kinds, shapeOf } from "./kinds";

it("finds each kind again by what it stands for", () => {
  expect(
    kinds.map(([kind]) => kindIs(shapeOf(kind) ?? { type: "other", subtype: null, balance_method: "transactions" })),
  ).toEqual(kinds.map(([kind]) => kind));
  expect(kindIs({ type: "depository", subtype: "cd", balance_method: "transactions" })).toBeUndefined();
});
