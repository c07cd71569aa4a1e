import { afterEach, expect, test, vi } from "vitest";
import { takeShared } from "./shared";

afterEach(() => vi.unstubAllGlobals());

test("all files that another app shared are taken, once and in order", async () => {
  const stored = new Map<string, Response>();
  for (const [n, name] of ["März.csv", "April.csv"].entries()) {
    stored.set(`/shared/${n}`, new Response(name, { headers: { "X-Name": encodeURIComponent(name) } }));
  }
  const caches = {
    open: async () => ({ match: async (key: string) => stored.get(key) }),
    delete: async () => stored.clear(),
  };
  vi.stubGlobal("window", { caches });
  vi.stubGlobal("caches", caches);
  const files = await takeShared();
  expect(files.map((f) => f.name)).toEqual(["März.csv", "April.csv"]);
  expect(await files[1]?.text()).toBe("April.csv");
  expect(await takeShared()).toEqual([]);
});
