import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { overview } from "#/api/overview";
import { summary } from "#/api/transactions";
import { firstDay, monthOf, shift } from "#/lib/dates";
import { usesBy } from "./uses";

/** The uses of each category, tag or counterparty in this month and the eleven months before. */
export function useUses(by: "category" | "tag" | "counterparty") {
  const today = useQuery(overview).data?.today;
  const { data } = useQuery({
    ...summary({
      group_by: [by],
      include: ["transfers", "hidden"],
      start_date: today ? firstDay(shift(monthOf(today), -11)) : undefined,
    }),
    enabled: today !== undefined,
  });
  return useMemo(
    () => usesBy(data?.groups ?? [], (g) => (by === "counterparty" ? g.ids?.[by] : g.keys[by])),
    [data, by],
  );
}
