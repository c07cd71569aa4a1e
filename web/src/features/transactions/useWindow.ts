import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { type Heights, placeAt, type Timeline, topOf } from "./timeline";

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

const desk: Heights = { head: 44, row: 40 };
const phone: Heights = { head: 64, row: 60 };

/** Places are drawn in blocks of so many, so that a frame in ten draws something new, and the others only move. */
export const block = 8;
const beyond = 4; // places that are drawn above and below the view
const bar = { top: 64, bottom: 80 }; // parts that cover the list at the edges of the window

/** Which places of the list are drawn. Heights are known, so that a million places cost no more than ten. */
export function useWindow(line: Timeline, canvas: RefObject<HTMLElement | null>) {
  const heights = usePhone() ? phone : desk;
  const above = useRef(0);
  const now = useCallback((): readonly [number, number] => {
    const y = scrollY - above.current;
    const first = placeAt(line, y, heights) - beyond;
    const last = placeAt(line, y + innerHeight, heights) + beyond;
    const upTo = Math.min(Math.ceil((last + 1) / block) * block, line.size);
    return [Math.max(Math.floor(first / block) * block, 0), upTo];
  }, [line, heights]);
  const [drawn, draw] = useState(now);
  useLayoutEffect(() => {
    const look = () => {
      const next = now();
      draw((was) => (was[0] === next[0] && was[1] === next[1] ? was : next));
    };
    // Rows must stand before the frame is painted in which they are seen.
    const scrolled = () => flushSync(look);
    const resized = () => {
      if (canvas.current) above.current = canvas.current.getBoundingClientRect().top + scrollY;
      look();
    };
    resized();
    addEventListener("scroll", scrolled, { passive: true });
    addEventListener("resize", resized);
    return () => {
      removeEventListener("scroll", scrolled);
      removeEventListener("resize", resized);
    };
  }, [canvas, now]);
  return {
    drawn: [Math.min(drawn[0], line.size), Math.min(drawn[1], line.size)] as const,
    top: (index: number) => topOf(line, index, heights),
    /** Brings a place into view, if it is not. */
    bring(index: number) {
      const from = above.current + topOf(line, index, heights);
      const to = above.current + topOf(line, index + 1, heights);
      if (from < scrollY + bar.top) scrollTo(0, from - bar.top);
      else if (to > scrollY + innerHeight - bar.bottom) scrollTo(0, to - innerHeight + bar.bottom);
    },
  };
}

/**
 * A value after it has stopped changing: a person who flings past years must not load them. After a pause it counts at
 * once.
 */
export function useSettled<T>(value: T, ms: number) {
  const [settled, settle] = useState(value);
  const moved = useRef(0);
  useEffect(() => {
    const now = performance.now();
    const still = now - moved.current > ms;
    moved.current = now;
    if (still) return settle(value);
    const t = setTimeout(() => settle(value), ms);
    return () => clearTimeout(t);
  }, [value, ms]);
  return settled;
}
