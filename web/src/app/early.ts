import { localDay, monthOf } from "#/lib/days";
import { askEarly } from "#/lib/early";
import { type Screen, screens } from "./screens";

const everywhere = ["/auth/session", "/api/v1/pulse", "/api/v1/overview"];
const at = (path: string): Screen | undefined => screens.find((s) => s.path === path);

/** The first requests of a screen. A test compares these addresses with the screens' requests. */
export const firstOf = (path: string, today: string): string[] => [
  ...everywhere,
  ...(at(path)?.asks?.(monthOf(today)) ?? []),
];

/** Starts what the screen of an address needs, while the app itself is loaded. */
export function begin({ pathname, search }: { pathname: string; search: string }) {
  askEarly(search ? everywhere : firstOf(pathname, localDay(new Date())));
  void at(pathname)?.page?.load();
}
