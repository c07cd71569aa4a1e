import { t } from "@lingui/core/macro";

/** The id of the actor "operator": anyone who uses the command line on the server's own machine. */
const operator = "00000000-0000-7000-8000-000000000001";

/** The name of the person or program that made a change. */
export const actorName = (c: { actor_id: string | null; actor_name: string }) =>
  c.actor_id === operator ? t`Command line` : c.actor_name;
