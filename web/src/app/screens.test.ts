import { expect, it } from "vitest";
import { paths, screenOf } from "./screens";

it("knows the screen above every page", () => {
  expect(screenOf("/")?.to).toBe("/");
  expect(screenOf("/rules/new")?.to).toBe("/rules");
  expect(screenOf("/accounts/k3f")?.to).toBe("/accounts");
  expect(screenOf("/banks/k3f")?.to).toBe("/accounts");
  expect(screenOf("/runs/k3f")?.to).toBe("/workflows");
  expect(screenOf("/links")?.to).toBe("/accounts");
  expect(paths.filter((p) => !screenOf(p))).toEqual(["/me"]);
});
