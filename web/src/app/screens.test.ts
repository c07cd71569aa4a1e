import { i18n } from "@lingui/core";
import { expect, it } from "vitest";
import { places } from "#/features/palette/places";
import { tabsAt } from "#/parts/tabs";
import { moved } from "./moved";
import { parts, paths, screenOf, screens } from "./screens";

it("has 13 entries in the order of their headings, and five in the bar of a phone with More", () => {
  expect(parts.flatMap((p) => [p.title ? i18n._(p.title) : "–", ...p.screens.map((s) => i18n._(s.name))])).toEqual([
    ...["–", "Overview", "Review", "Transactions", "Accounts"],
    ...["Plan", "Budget", "Recurring"],
    ...["Insights", "Cash flow", "Net worth", "Reports"],
    ...["Automate", "Rules", "AI agents", "Activity"],
    ...["–", "Settings"],
  ]);
  expect(parts.flatMap((p) => p.screens)).toEqual(screens);
  expect(screens.filter((s) => s.bar).map((s) => s.to)).toEqual(["/", "/review", "/transactions", "/budget"]);
  expect(new Set(screens.map((s) => s.key)).size).toBe(13);
});

it("knows the screen above every page", () => {
  expect(screenOf("/")?.to).toBe("/");
  expect(screenOf("/rules/new")?.to).toBe("/rules");
  expect(screenOf("/review/alerts")?.to).toBe("/review");
  expect(screenOf("/accounts/k3f")?.to).toBe("/accounts");
  expect(screenOf("/banks/k3f")?.to).toBe("/accounts");
  expect(screenOf("/import")?.to).toBe("/transactions");
  expect(screenOf("/runs/k3f")?.to).toBe("/agents");
  expect(paths.filter((p) => !screenOf(p))).toEqual(["/me", "/more"]);
});

// What had an address before the navigation had headings. None of it may be lost.
const before = `/ /review /transactions /cash-flow /net-worth /months /targets /recurring /upcoming /findings /accounts
  /accounts/$id /banks/$id /activity /reports /categories /agents /household /settings /import /links /workflows
  /workflows/$id /runs/$id /rules /rules/new /rules/$id /me`.split(/\s+/);

it("keeps every old address, or leads on from it", () => {
  const to = new Map<string, string>(moved);
  expect(before.filter((p) => !paths.includes(to.get(p) ?? p))).toEqual([]);
  expect(moved.filter(([from]) => paths.includes(from) || !before.includes(from))).toEqual([]);
  expect([...paths, ...to.keys()]).not.toContain("/no-such-address");
});

it("leads to every page by a tab, an entry or the search", () => {
  const tabs = paths.flatMap((p) => tabsAt(p).map((t) => t.to));
  const found = places.flatMap((p): string[] => ("to" in p ? [p.to] : []));
  const whole = paths.filter((p) => !p.includes("$"));
  expect(whole.filter((p) => !found.includes(p))).toEqual([]);
  expect([...tabs, ...found].filter((p) => !paths.includes(p))).toEqual([]);
  expect(tabs.filter((p) => !found.includes(p))).toEqual([]);
});

const sources = import.meta.glob<string>(["../**/*.{ts,tsx}", "!../**/*.test.ts", "!./moved.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});

it("has no link to an old address", () => {
  const old = new RegExp(`(to=|to: |from: |href=)"(${moved.map(([from]) => from).join("|")})["?#]`);
  const links = (text: string) => old.test(text);
  expect(links('<Link to="/months" search={{}}>')).toBe(true);
  expect(links('<Link to="/workflows/$id">')).toBe(false);
  expect(Object.keys(sources).filter((path) => links(sources[path] ?? ""))).toEqual([]);
});
