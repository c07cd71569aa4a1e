import { expect, it } from "vitest";
import { adopt, readerOf } from "./reader";

const store = (start: Record<string, string> = {}) => {
  const m = new Map(Object.entries(start));
  return {
    m,
    getItem: (k: string) => m.get(k) ?? null,
    setItem: (k: string, v: string) => void m.set(k, v),
    removeItem: (k: string) => void m.delete(k),
  } as unknown as Storage & { m: Map<string, string> };
};

it("reads a member's preferences, whatever else is in them", () => {
  expect(readerOf({ theme: "dark", language: "de", region: "AT" })).toEqual({ language: "de", region: "AT" });
  for (const odd of [{}, null, "de", { language: 5 }]) expect(readerOf(odd)).toEqual({ language: "", region: "" });
});

it("keeps what a member prefers, and says when it is something new", () => {
  const s = store();
  expect(adopt("a", { language: "de", region: "" }, s)).toBe(true);
  expect(adopt("a", { language: "de", region: "" }, s)).toBe(false);
  expect(adopt("a", { language: "de", region: "CH" }, s)).toBe(true);
  expect(Object.fromEntries(s.m)).toEqual({ reader: "a", language: "de", region: "CH" });
});

it("does not show one member the formats of another", () => {
  const s = store();
  adopt("a", { language: "de", region: "CH" }, s);
  expect(adopt("b", { language: "", region: "" }, s)).toBe(true);
  expect(Object.fromEntries(s.m)).toEqual({ reader: "b" });
});

it("leaves alone what was set here and is nobody's preference", () => {
  const s = store({ language: "fr" });
  expect(adopt("a", { language: "", region: "" }, s)).toBe(false);
  expect(Object.fromEntries(s.m)).toEqual({ language: "fr" });
});
