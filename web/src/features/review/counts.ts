import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Overview, overview } from "#/api/overview";
import type { Group } from "./groups";

/** How many transactions of the groups can be closed. */
export const number = (groups: Group[]) => groups.reduce((n, g) => n + g.ready, 0);

/**
 * The number of transactions to review, if the screen and the navigation disagree. An overview that was requested
 * before a change can arrive after it. So while transactions are being closed, the screen's number counts. Otherwise,
 * the newer number counts.
 */
export const truer = (here: { count: number; at: number; closing: boolean }, there: { count: number; at: number }) =>
  here.closing || here.at >= there.at ? here.count : there.count;

/** Makes the navigation show the count of this screen. */
export function useSameCount(count: number | undefined, at: number, closing: boolean) {
  const client = useQueryClient();
  const { data, dataUpdatedAt } = useQuery(overview);
  const counted = data?.review.count;
  useEffect(() => {
    if (count === undefined || counted === undefined) return;
    const now = truer({ count, at, closing }, { count: counted, at: dataUpdatedAt });
    if (now !== counted)
      client.setQueryData(
        overview.queryKey,
        (o: Overview | undefined) => o && { ...o, review: { ...o.review, count: now } },
      );
  }, [client, count, counted, at, dataUpdatedAt, closing]);
}
