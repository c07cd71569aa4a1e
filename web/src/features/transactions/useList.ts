import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { type RefObject, useMemo, useRef } from "react";
import { days, type Filters, head, months, rows } from "#/api/transactions";
import { daysOf } from "./filters";
import { type Piece, piecesOf, undividedRows } from "./pieces";
import { type Month, monthAt, rowAt, timeline } from "./timeline";
import { useSettled, useWindow } from "./useWindow";

const ahead = 40; // rows to load before they come into view

/** The list of transactions: places for all rows, and the data of the rows in view. */
export function useList(filters: Filters, canvas: RefObject<HTMLElement | null>) {
  const counts = useQuery({ ...months(filters), placeholderData: keepPreviousData });
  useQuery(head(filters)); // requested together with the months, so that the list appears after one round trip
  // Until the months for new filters have loaded, the list shows the previous ones.
  const before = useRef(filters);
  if (!counts.isPlaceholderData) before.current = filters;
  const shown = before.current;
  const newest = useQuery(head(shown)).data;
  const line = useMemo(() => timeline(counts.data?.periods ?? []), [counts.data]);
  const view = useWindow(line, canvas);
  const [first, last] = useSettled(view.drawn.join(), 90).split(",").map(Number) as [number, number];
  const [from, to] = [Math.max(first - ahead, 0), Math.min(last + ahead, line.size - 1)];
  const known = newest?.length ?? 0;
  // The newest rows are already loaded. Older rows load by month, or by days if a month is large.
  const near = useMemo(() => {
    const [a, b] = [monthAt(line, from)?.nth ?? 0, monthAt(line, to)?.nth ?? -1];
    return rowAt(line, last - 1) < known ? [] : line.months.slice(a, b + 1);
  }, [line, from, to, last, known]);
  const large = near.filter((m) => m.rows > undividedRows);
  const counted = useQueries({ queries: large.map((m) => days(shown, ...daysOf(shown, m.month))) });
  const piecesIn = (m: Month): Piece[] => {
    if (m.rows > undividedRows) return piecesOf(counted[large.indexOf(m)]?.data?.periods ?? []);
    const [start, end] = daysOf(shown, m.month);
    return [{ start, end, at: 0, rows: m.rows }];
  };
  const wanted = near.flatMap((m) =>
    piecesIn(m)
      .map((p) => ({ ...p, at: m.start + 1 + p.at }))
      .filter((p) => p.at <= to && p.at + p.rows > from),
  );
  const loaded = useQueries({ queries: wanted.map((p) => rows(shown, p.start, p.end)) });
  const row = (index: number) => {
    const i = wanted.findIndex((p) => p.at <= index && index < p.at + p.rows);
    const r = i < 0 ? undefined : loaded[i]?.data?.[index - (wanted[i]?.at ?? 0)];
    return r ?? newest?.[rowAt(line, index)];
  };
  const all = [counts, ...counted, ...loaded];
  return {
    line,
    view,
    row,
    counted: counts.data !== undefined,
    stale: counts.isPlaceholderData,
    error: all.find((q) => q.error)?.error ?? null,
    again: () => all.forEach((q) => void q.refetch()),
  };
}
