import type { QueryClient } from "@tanstack/react-query";
import { type Overview, overview } from "#/api/overview";
import type { Group } from "./groups";

/** How many transactions of the groups can be closed. */
export const number = (groups: Group[]) => groups.reduce((n, g) => n + g.ready, 0);

/** Subtracts transactions that are being closed from the count of the navigation, until it is loaded again. */
export const fewer = (client: QueryClient, n: number) =>
  client.setQueryData(
    overview.queryKey,
    (o: Overview | undefined) => o && { ...o, review: { ...o.review, count: Math.max(0, o.review.count - n) } },
  );
