import { type RefObject, useLayoutEffect, useState } from "react";

/**
 * The current width of a chart. The chart is drawn for this width instead of being scaled, so its letters keep their
 * size.
 */
export function useWidth(ref: RefObject<HTMLElement | null>, first = 640): number {
  const [width, set] = useState(first);
  useLayoutEffect(() => {
    const el = ref.current;
    if (!el) return;
    const observer = new ResizeObserver(([e]) => e && set(Math.max(240, Math.floor(e.contentRect.width))));
    observer.observe(el);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
