import { beforeEach, expect, it, vi } from "vitest";

const stored = new Map<string, string>();
const tabs: ((e: { key: string | null }) => void)[] = [];

beforeEach(() => {
  stored.clear();
  tabs.length = 0;
  vi.resetModules();
  vi.stubGlobal("localStorage", {
    getItem: (k: string) => stored.get(k) ?? null,
    setItem: (k: string, v: string) => void stored.set(k, v),
  });
  vi.stubGlobal("document", { documentElement: { dataset: {} } });
  vi.stubGlobal("addEventListener", (_: string, f: (e: { key: string | null }) => void) => void tabs.push(f));
});

it("is what another tab chose", async () => {
  const { amounts, theme } = await import("./persisted");
  stored.set("amounts", "hidden");
  for (const notify of tabs) notify({ key: "amounts" });
  expect([amounts.get(), theme.get()]).toEqual(["hidden", "system"]);
  stored.clear();
  for (const notify of tabs) notify({ key: null });
  expect(amounts.get()).toBe("shown");
});

it("keeps what is chosen here, and takes no nonsense", async () => {
  const { amounts } = await import("./persisted");
  amounts.set("hidden");
  expect(stored.get("amounts")).toBe("hidden");
  stored.set("amounts", "perhaps");
  for (const notify of tabs) notify({ key: "amounts" });
  expect(amounts.get()).toBe("shown");
});
