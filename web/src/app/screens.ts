import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { IconName } from "#/ui/icons";

type Part = "daily" | "plan" | "insights" | "automate" | "own";

type Screen = {
  to: string;
  name: MessageDescriptor;
  icon: IconName;
  key: string;
  /** Under which heading it stands. */
  part: Part;
  /** In the bar of a phone; the others are on the page More there. */
  bar?: true;
};

// biome-ignore format: one screen a line
const list = [
  { part: "daily", to: "/", name: msg`Overview`, icon: "overview", key: "o", bar: true },
  { part: "daily", to: "/review", name: msg`Review`, icon: "review", key: "r", bar: true },
  { part: "daily", to: "/transactions", name: msg`Transactions`, icon: "list", key: "t", bar: true },
  { part: "daily", to: "/accounts", name: msg`Accounts`, icon: "bank", key: "a" },
  { part: "plan", to: "/budget", name: msg`Budget`, icon: "budget", key: "b", bar: true },
  { part: "plan", to: "/recurring", name: msg`Recurring`, icon: "repeat", key: "y" },
  { part: "insights", to: "/cash-flow", name: msg`Cash flow`, icon: "flow", key: "f" },
  { part: "insights", to: "/net-worth", name: msg`Net worth`, icon: "worth", key: "n" },
  { part: "insights", to: "/reports", name: msg`Reports`, icon: "report", key: "p" },
  { part: "automate", to: "/rules", name: msg`Rules`, icon: "rules", key: "u" },
  { part: "automate", to: "/agents", name: msg`AI agents`, icon: "spark", key: "e" },
  { part: "automate", to: "/activity", name: msg`Activity`, icon: "activity", key: "h" },
  { part: "own", to: "/settings", name: msg`Settings`, icon: "gear", key: "s" },
] as const satisfies readonly Screen[];

export type Entry = Screen & { to: (typeof list)[number]["to"] };

/** The screens of the navigation. */
export const screens: readonly Entry[] = list;

/** The screens by heading. Screens of daily use have no heading; the member's own are at the bottom. */
export const parts: readonly { part: Part; title?: MessageDescriptor; screens: readonly Entry[] }[] = (
  [
    ["daily", undefined],
    ["plan", msg`Plan`],
    ["insights", msg`Insights`],
    ["automate", msg`Automate`],
    ["own", undefined],
  ] as const
).map(([part, title]) => ({ part, title, screens: screens.filter((s) => s.part === part) }));

/** Where pages stand in the navigation whose path does not say it. */
const under: Record<string, Entry["to"] | undefined> = {
  banks: "/accounts",
  import: "/transactions",
  payees: "/settings",
  runs: "/agents",
  workflows: "/agents",
};

/** The screen of the navigation to which a page belongs: itself, the one above it, or none. */
export function screenOf(path: string): Entry | undefined {
  const first = path.split("/")[1] ?? "";
  return screens.find((s) => s.to === (under[first] ?? `/${first}`));
}

/** The paths of all screens, for the test that compares them with the server's routes. */
// biome-ignore format: one path a line
export const paths: readonly string[] = [
  ...list.map((s) => s.to),
  "/review/alerts",
  "/review/links",
  "/review/suggestions",
  "/import",
  "/accounts/$id",
  "/banks/$id",
  "/payees/$id",
  "/recurring/calendar",
  "/recurring/$id",
  "/cash-flow/trends",
  "/cash-flow/year",
  "/rules/new",
  "/rules/$id",
  "/agents/assistants",
  "/agents/limits",
  "/workflows/$id",
  "/runs/$id",
  "/settings/members",
  "/settings/categories",
  "/settings/keys",
  "/settings/providers",
  "/settings/models",
  "/settings/notifications",
  "/settings/rates",
  "/settings/export",
  "/settings/about",
  "/me",
  "/more",
];
