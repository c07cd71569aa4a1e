import { i18n } from "@lingui/core";
import { expect, it } from "vitest";
import { others } from "#/features/palette/places";
import { moved } from "./moved";
import { entries, pages, parts, screenOf, tabsAt } from "./navigation";
import { screens } from "./screens";

const paths: readonly string[] = screens.map((s) => s.path);

it("has 13 entries in the order of their headings, and five in the bar of a phone with More", () => {
  expect(parts.flatMap((p) => [p.title ? i18n._(p.title) : "–", ...p.screens.map((s) => i18n._(s.name))])).toEqual([
    ...["–", "Overview", "Review", "Transactions", "Accounts"],
    ...["Plan", "Budget", "Recurring"],
    ...["Insights", "Cash flow", "Net worth", "Reports"],
    ...["Automate", "Rules", "AI agents", "Activity"],
    ...["–", "Settings"],
  ]);
  expect(parts.flatMap((p) => p.screens)).toEqual(entries);
  expect(entries.filter((s) => s.bar).map((s) => s.to)).toEqual(["/", "/review", "/transactions", "/budget"]);
  expect(new Set(entries.map((s) => s.key)).size).toBe(13);
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

// All addresses from before the navigation had headings. Each must still work.
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
  const found = [...pages, ...others].flatMap((p): string[] => ("to" in p ? [p.to] : []));
  const fixed = paths.filter((p) => !p.includes("$"));
  expect(fixed.filter((p) => !found.includes(p))).toEqual([]);
  expect([...tabs, ...found].filter((p) => !paths.includes(p))).toEqual([]);
  expect(tabs.filter((p) => !found.includes(p))).toEqual([]);
});

it("has the tabs of a screen in their order, and none on pages below them", () => {
  const names = (path: string) => tabsAt(path).map((t) => i18n._(t.name));
  expect(names("/review")).toEqual(["Transactions", "Alerts", "Linked accounts", "Suggestions"]);
  expect(names("/review/links")).toEqual(names("/review"));
  expect(names("/cash-flow/year")).toEqual(["Flow", "Trends", "Yearly summary"]);
  expect(names("/settings/members")).toHaveLength(10);
  expect(tabsAt("/settings").filter((t) => t.for)).toHaveLength(7);
  expect(names("/recurring/k3f")).toEqual([]);
  expect(names("/budget")).toEqual([]);
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
