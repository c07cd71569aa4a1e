import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useMemo, useState, useSyncExternalStore } from "react";
import { type Filters, rows, summary } from "#/api/transactions";
import { daysOf } from "./filters";
import { isHead, monthAt, timeline } from "./timeline";

const narrow = matchMedia("(max-width: 47.99rem)");

/** Whether the window is a phone's; rows are higher there. */
const usePhone = () =>
  useSyncExternalStore(
    (f) => {
      narrow.addEventListener("change", f);
      return () => narrow.removeEventListener("change", f);
    },
    () => narrow.matches,
  );

/** A value once it has stood still: whoever flings past years must not load them. */
function useSettled<T>(value: T, ms: number) {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const t = setTimeout(() => settle(value), ms);
    return () => clearTimeout(t);
  }, [value, ms]);
  return settled;
}

/** The list of transactions: places for all rows, and the rows of the months in view. */
export function useList(filters: Filters, canvas: RefObject<HTMLElement | null>) {
  const counts = useQuery({
    ...summary({ ...filters, group_by: ["month"], include: ["transfers", "excluded", "hidden"] }),
    placeholderData: keepPreviousData,
  });
  const line = useMemo(() => timeline(counts.data?.groups ?? []), [counts.data]);
  const phone = usePhone();
  const [above, setAbove] = useState(0);
  useLayoutEffect(() => {
    if (canvas.current) setAbove(canvas.current.getBoundingClientRect().top + scrollY);
  }, [canvas]);
  const sizes = phone ? { head: 64, row: 60 } : { head: 44, row: 40 };
  const virtual = useWindowVirtualizer({
    count: line.size,
    estimateSize: (i) => (isHead(line, i) ? sizes.head : sizes.row),
    scrollMargin: above,
    scrollPaddingStart: 64,
    scrollPaddingEnd: 80,
    overscan: 10,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other heights and other rows are another list
  useEffect(() => virtual.measure(), [phone, line]);
  const shown = virtual.getVirtualItems();
  const first = monthAt(line, shown[0]?.index ?? 0)?.month;
  const last = monthAt(line, shown.at(-1)?.index ?? 0)?.month;
  const wanted = useMemo(
    () =>
      line.months
        .filter((m) => first && last && m.month <= first && m.month >= last)
        .map((m) => daysOf(filters, m.month)),
    [line, first, last, filters],
  );
  const settled = useSettled(wanted, 90);
  const loaded = useQueries({
    queries: settled.map(([start, end]) => rows(filters, start, end)),
    combine: (all) => ({
      months: new Map(settled.map(([start], i) => [start.slice(0, 7), all[i]?.data])),
      error: all.find((q) => q.error)?.error ?? null,
      again: () => all.forEach((q) => void q.refetch()),
    }),
  });
  const row = (index: number) => {
    const m = monthAt(line, index);
    return m && index > m.start ? loaded.months.get(m.month)?.[index - m.start - 1] : undefined;
  };
  return {
    line,
    virtual,
    above,
    row,
    counted: counts.data !== undefined,
    stale: counts.isPlaceholderData,
    error: counts.error ?? loaded.error,
    again: () => {
      void counts.refetch();
      loaded.again();
    },
  };
}
