import { localDay, monthOf } from "#/lib/days";
import { askEarly } from "#/lib/early";
import { type Screen, screens } from "./screens";

const everywhere = ["/auth/session", "/api/v1/pulse", "/api/v1/overview"];
const at = (path: string): Screen | undefined => screens.find((s) => s.path === path);

/** A screen's first requests, by address. A test compares them with the requests that the screen makes. */
export const firstOf = (path: string, today: string): string[] => [
  ...everywhere,
  ...(at(path)?.asks?.(monthOf(today)) ?? []),
];

/** Starts the first requests and the script of the screen at an address, while the app itself is loading. */
export function begin({ pathname, search }: { pathname: string; search: string }) {
  askEarly(search ? everywhere : firstOf(pathname, localDay(new Date())));
  void at(pathname)?.page?.load();
}
