import { expect, it } from "vitest";
import { shortName } from "./names";

it("cuts long names between letters", () => {
  expect(shortName("Tidy")).toBe("Tidy");
  expect(shortName("x".repeat(40))).toHaveLength(40);
  expect(shortName("🦊".repeat(50), 4)).toBe("🦊🦊🦊…");
});
