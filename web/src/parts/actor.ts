import { t } from "@lingui/core/macro";

/** A person who uses the command line on the server's own machine; the API calls them "operator". */
const operator = "00000000-0000-7000-8000-000000000001";

/** The name of who made a change. */
export const actorName = (c: { actor_id: string | null; actor_name: string }) =>
  c.actor_id === operator ? t`Command line` : c.actor_name;
