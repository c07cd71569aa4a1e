import { afterEach, expect, test, vi } from "vitest";
import { unprotected } from "./unprotected";

afterEach(() => void vi.unstubAllGlobals());

test.each([
  [true, false],
  [false, true],
])("a page that is secure (%s) warns: %s", (secure, warns) => {
  vi.stubGlobal("isSecureContext", secure);
  expect(unprotected() !== "").toBe(warns);
});
