import { useSyncExternalStore } from "react";

/** The overlay that covers the page, if any. */
export type Overlay = "palette" | "keys" | "add" | null;

let now: Overlay = null;
const listeners = new Set<() => void>();

export const overlay = {
  set(to: Overlay) {
    now = to;
    for (const f of listeners) f();
  },
  use: () =>
    useSyncExternalStore(
      (f) => {
        listeners.add(f);
        return () => listeners.delete(f);
      },
      () => now,
    ),
};
