import { afterEach, expect, it, vi } from "vitest";
import { askEarly, takeEarly } from "./early";

afterEach(() => vi.unstubAllGlobals());

it("gives an early answer once, and none that is old", async () => {
  vi.stubGlobal("fetch", (a: string) => Promise.resolve(`of ${a}`));
  askEarly(["/a", "/b"]);
  expect(await takeEarly("/a")).toBe("of /a");
  expect(takeEarly("/a")).toBeUndefined();
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 6000);
  expect(takeEarly("/b")).toBeUndefined();
});
