import { type PointerEvent, useRef, useState } from "react";

const far = 88; // pixels from which on a swipe counts when the finger is lifted

/** Handles swipes of a line to the right or left. The line must have touch-action: pan-y. */
export function useSwipe(acts: { right?: () => void; left?: () => void }) {
  const start = useRef<{ x: number; y: number } | null>(null);
  const [by, setBy] = useState(0);
  const end = () => {
    start.current = null;
    setBy(0);
  };
  return {
    by,
    reached: Math.abs(by) >= far,
    on: {
      onPointerDown(e: PointerEvent) {
        if (e.pointerType === "touch") start.current = { x: e.clientX, y: e.clientY };
      },
      onPointerMove(e: PointerEvent) {
        if (!start.current) return;
        const dx = e.clientX - start.current.x;
        const allowed = dx > 0 ? acts.right : acts.left;
        setBy(allowed && Math.abs(dx) > 8 ? dx : 0);
      },
      onPointerUp() {
        const act = by >= far ? acts.right : by <= -far ? acts.left : undefined;
        end();
        act?.();
      },
      onPointerCancel: end,
    },
  };
}
