import { expect, it, vi } from "vitest";
import { moved } from "./moved";
import { screens } from "./screens";

// The test only asks which route an address has, so no screen needs to load.
vi.mock("./Shell", () => ({ Shell: () => null }));
vi.mock("./More", () => ({ MorePage: () => null }));
vi.mock("./ErrorPage", () => ({ AppError: () => null, NotFoundPage: () => null, ErrorPage: () => null }));

const { router } = await import("./routes");

/** The address to which the route of an address redirects, or the address itself. */
function leads(href: string): string {
  const { pathname, search, hash } = new URL(href, "here://there");
  const route = router.routesByPath[pathname as "/"];
  try {
    const location = { search: router.options.parseSearch?.(search) ?? {}, hash: hash.slice(1) };
    (route.options as { beforeLoad?: (_: object) => void }).beforeLoad?.({ location });
  } catch (r) {
    return router.buildLocation((r as { options: Parameters<typeof router.buildLocation>[0] }).options).href;
  }
  return href;
}

it("has a route for every page", () => {
  const routes = Object.keys(router.routesByPath);
  expect(screens.map((s) => s.path).filter((p) => !routes.includes(p))).toEqual([]);
  expect(routes).not.toContain("/no-such-address");
});

it.each(moved)("leads from %s to %s, with what stands behind it", (from, to) => {
  expect(leads(from)).toBe(to);
  expect(leads(`${from}#part`)).toBe(`${to}#part`);
});

it("keeps what an old address asks for", () => {
  expect(leads("/months?by=payee")).toBe("/cash-flow/trends?by=payee");
  expect(leads("/upcoming?month=2026-12")).toBe("/recurring/calendar?month=2026-12");
  expect(leads("/household?member=k3xK9a2Q")).toBe("/settings/members?member=k3xK9a2Q");
  expect(leads("/categories?tab=payees")).toBe("/settings/categories?tab=payees");
  expect(leads("/net-worth?years=3")).toBe("/net-worth?years=3");
});
