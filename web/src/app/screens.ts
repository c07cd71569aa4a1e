import type { IconName } from "#/ui/icons";

/**
 * The screens of the navigation. internal/web/routes.txt names the same paths for the server, and a
 * test holds the two together.
 */
export const screens = [
  { to: "/", name: "Overview", icon: "overview", key: "o" },
  { to: "/review", name: "Review", icon: "review", key: "r" },
  { to: "/transactions", name: "Transactions", icon: "list", key: "t" },
  { to: "/activity", name: "Activity", icon: "activity", key: "a" },
] as const satisfies readonly { to: string; name: string; icon: IconName; key: string }[];
