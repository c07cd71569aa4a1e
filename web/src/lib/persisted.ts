import { useSyncExternalStore } from "react";

/** A choice that the browser stores for all its tabs, such as the theme or whether amounts are hidden. */
export function persisted<T extends string>(name: string, values: readonly [T, ...T[]], applied: (v: T) => void) {
  const listeners = new Set<() => void>();
  const read = (): T => {
    const v = localStorage.getItem(name);
    return values.find((x) => x === v) ?? values[0];
  };
  let now = read();
  applied(now);
  const become = (v: T) => {
    now = v;
    applied(v);
    for (const f of listeners) f();
  };
  // Only the other tabs get this event when a tab stores a value. If the event has no key, the whole storage was
  // cleared.
  addEventListener("storage", (e) => {
    if ((e.key === name || e.key === null) && read() !== now) become(read());
  });
  return {
    get: () => now,
    set(v: T) {
      localStorage.setItem(name, v);
      become(v);
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
}

/** The color theme: light, dark, or that of the system. */
export const theme = persisted("theme", ["system", "light", "dark"], (v) => {
  if (v === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = v;
});

/** Whether amounts are shown. A person can hide them while someone else can see the screen. */
export const amounts = persisted("amounts", ["shown", "hidden"], () => {});
