import type { IconName } from "#/ui/icons";

type Screen = {
  to: string;
  name: string;
  icon: IconName;
  key: string;
  /** Where it stands: with the money, with the work, or with the household. */
  part: 0 | 1 | 2;
  /** In the bar of a phone; the others are under More there. */
  bar?: true;
  /** For admins alone. */
  admin?: true;
};

// biome-ignore format: one screen a line
const list = [
  { part: 0, to: "/", name: "Overview", icon: "overview", key: "o", bar: true },
  { part: 0, to: "/review", name: "Review", icon: "review", key: "r", bar: true },
  { part: 0, to: "/transactions", name: "Transactions", icon: "list", key: "t", bar: true },
  { part: 0, to: "/cash-flow", name: "Cash flow", icon: "flow", key: "f" },
  { part: 0, to: "/net-worth", name: "Net worth", icon: "worth", key: "n" },
  { part: 0, to: "/months", name: "Months", icon: "table", key: "m" },
  { part: 0, to: "/targets", name: "Targets", icon: "coin", key: "g" },
  { part: 0, to: "/recurring", name: "Recurring", icon: "sync", key: "y" },
  { part: 0, to: "/upcoming", name: "Upcoming", icon: "calendar", key: "d" },
  { part: 0, to: "/findings", name: "Findings", icon: "eye", key: "l" },
  { part: 0, to: "/accounts", name: "Accounts", icon: "bank", key: "b" },
  { part: 1, to: "/activity", name: "Activity", icon: "activity", key: "a", bar: true },
  { part: 1, to: "/reports", name: "Reports", icon: "report", key: "p" },
  { part: 1, to: "/workflows", name: "Workflows", icon: "bolt", key: "w" },
  { part: 2, to: "/categories", name: "Categories", icon: "tag", key: "c" },
  { part: 2, to: "/agents", name: "Agents", icon: "spark", key: "e" },
  { part: 2, to: "/household", name: "Household", icon: "people", key: "h" },
  { part: 2, to: "/settings", name: "Settings", icon: "gear", key: "s", admin: true },
  { part: 1, to: "/rules", name: "Rules", icon: "rules", key: "u" },
  { part: 1, to: "/import", name: "Import", icon: "upload", key: "i" },
] as const satisfies readonly Screen[];

type Entry = Screen & { to: (typeof list)[number]["to"] };

/** The screens of the navigation. */
const screens: readonly Entry[] = list;

/** The screens that someone can open. */
export const screensFor = (role: string | undefined) => screens.filter((s) => role === "admin" || !s.admin);

/** Where pages stand in the navigation whose path does not say it. */
const under: Record<string, Entry["to"] | undefined> = {
  banks: "/accounts",
  links: "/accounts",
  runs: "/workflows",
};

/** The screen of the navigation to which a page belongs: itself, the one above it, or none. */
export function screenOf(path: string): Entry | undefined {
  const first = path.split("/")[1] ?? "";
  return screens.find((s) => s.to === (under[first] ?? `/${first}`));
}

/** The paths of all screens, for the test that holds them against what the server serves. */
// biome-ignore format: one path a line
export const paths: readonly string[] = [
  ...list.map((s) => s.to),
  "/accounts/$id",
  "/banks/$id",
  "/links",
  "/workflows/$id",
  "/runs/$id",
  "/rules/new",
  "/rules/$id",
  "/me",
];
