import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { type Heights, placeAt, type Timeline, topOf } from "./timeline";

const narrow = matchMedia("(max-width: 47.99rem)");

/** Whether the window is as narrow as a phone's. Rows are higher there. */
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

/** How many places a block has. Rows are drawn in blocks, so most frames of a scroll only move what is drawn. */
export const block = 8;
const beyond = 4; // places to draw above and below the view
const bar = { top: 64, bottom: 80 }; // heights of the bars that cover the top and bottom of the window

/** The places of the list to draw. All heights are known, so a list of a million places is as fast as one of ten. */
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
    // flushSync draws the rows before the browser paints the frame that shows them.
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
    /** Scrolls a place into view. */
    bring(index: number) {
      const from = above.current + topOf(line, index, heights);
      const to = above.current + topOf(line, index + 1, heights);
      if (from < scrollY + bar.top) scrollTo(0, from - bar.top);
      else if (to > scrollY + innerHeight - bar.bottom) scrollTo(0, to - innerHeight + bar.bottom);
    },
  };
}

/**
 * A copy of a value. A change after a pause is copied at once; during quick changes, the copy waits until they stop. So
 * scrolling quickly past years does not load them.
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
