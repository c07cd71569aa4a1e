import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Overview } from "#/api/overview";

type Tab = {
  to: string;
  name: MessageDescriptor;
  /** For admins alone. */
  admin?: true;
  /** How much waits there. */
  waits?: (o: Overview) => number;
};

/** How many alerts are open. */
export const alerts = (o: Overview) => Object.values(o.findings).reduce((all, n) => all + n, 0);

// biome-ignore format: one tab a line
const sets = [
  [
    { to: "/review", name: msg`Transactions`, waits: (o) => o.review.count },
    { to: "/review/alerts", name: msg`Alerts`, waits: alerts },
    { to: "/review/links", name: msg`Linked accounts`, waits: (o) => o.links.proposed },
    { to: "/review/suggestions", name: msg`Suggestions`, waits: (o) => o.rules.proposed + (o.agents?.plans_waiting ?? 0) },
  ],
  [
    { to: "/recurring", name: msg`List` },
    { to: "/recurring/calendar", name: msg`Calendar` },
  ],
  [
    { to: "/cash-flow", name: msg({ message: "Flow", context: "tab of Cash flow" }) },
    { to: "/cash-flow/trends", name: msg`Trends` },
    { to: "/cash-flow/year", name: msg`Yearly summary` },
  ],
  [
    { to: "/agents", name: msg`Workflows` },
    { to: "/agents/assistants", name: msg`Assistants` },
    { to: "/agents/limits", name: msg`Limits` },
  ],
  [
    { to: "/settings", name: msg`General`, admin: true },
    { to: "/settings/members", name: msg`Members` },
    { to: "/settings/categories", name: msg`Categories, tags & payees` },
    { to: "/settings/keys", name: msg`API keys`, admin: true },
    { to: "/settings/providers", name: msg`Bank providers`, admin: true },
    { to: "/settings/models", name: msg`AI models`, admin: true },
    { to: "/settings/notifications", name: msg`Notifications`, admin: true },
    { to: "/settings/rates", name: msg`Exchange rates`, admin: true },
    { to: "/settings/export", name: msg`Export data`, admin: true },
    { to: "/settings/about", name: msg`About` },
  ],
] as const satisfies readonly (readonly Tab[])[];

type Path = (typeof sets)[number][number]["to"];

/** The tabs of the screen at an address, if it has some. */
export const tabsAt = (path: string): readonly (Tab & { to: Path })[] =>
  (sets as readonly (readonly (Tab & { to: Path })[])[]).find((s) => s.some((t) => t.to === path)) ?? [];
