import { type RefObject, useLayoutEffect, useState } from "react";

/** The width that a chart has, so that it is drawn for it and its letters keep their size. */
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
