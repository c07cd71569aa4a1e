import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Place } from "#/features/palette/places";
import type { Tab } from "#/parts/tabs";
import type { IconName } from "#/ui/icons";
import { type FixedPath, type Part, type Screen, screens } from "./screens";

const all: readonly (Screen & { path: FixedPath })[] = screens as never;

export type Entry = {
  to: FixedPath;
  name: MessageDescriptor;
  icon: IconName;
  part: Part;
  key: string;
  /** Whether it is in the navigation bar of a phone. The others are on the page More there. */
  bar?: true;
};

/** The screens of the navigation. */
export const entries: readonly Entry[] = all.flatMap(({ path: to, name, icon, nav }) =>
  nav && name && icon ? { to, name, icon, ...nav } : [],
);

/** The screens by heading. Screens of daily use and the member's own screens have no heading. */
export const parts: readonly { part: Part; title?: MessageDescriptor; screens: readonly Entry[] }[] = (
  [
    ["daily", undefined],
    ["plan", msg`Plan`],
    ["insights", msg`Insights`],
    ["automate", msg`Automate`],
    ["own", undefined],
  ] as const
).map(([part, title]) => ({ part, title, screens: entries.filter((s) => s.part === part) }));

const first = (path: string) => `/${path.split("/")[1] ?? ""}`;

/**
 * The navigation entry to which a page belongs: its own, or that of the screen above it; undefined if there is none.
 */
export function screenOf(path: string): Entry | undefined {
  const above = all.find((s) => s.under && first(s.path) === first(path))?.under ?? first(path);
  return entries.find((s) => s.to === above);
}

/** The tabs at an address; empty if its screen has none. */
export function tabsAt(path: string): readonly Tab[] {
  const here = all.filter((s) => s.tab && first(s.path) === first(path));
  if (!here.some((s) => s.path === path)) return [];
  return here.flatMap(({ path: to, name, tab }) => {
    const named = tab?.name ?? name;
    return named ? { ...tab, to, name: named } : [];
  });
}

/** The screens that the search can find. */
export const pages: readonly Place[] = all.flatMap(({ path: to, kind, name, icon, words, nav, for: who }) =>
  name && icon && words
    ? {
        kind: kind ?? (to.startsWith("/settings/") ? "setting" : "page"),
        to,
        icon,
        name,
        words,
        ...(nav && { main: true }),
        ...(who && { for: who }),
      }
    : [],
);
