import { useSyncExternalStore } from "react";

/** A choice that this browser keeps, in all its tabs at once: the theme, whether amounts are hidden. */
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
  // Only the other tabs get this event when one of them stores a value. If it names no key, everything was cleared.
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

/** Which colours: those of the system, or one's own choice. */
export const theme = persisted("theme", ["system", "light", "dark"], (v) => {
  if (v === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = v;
});

/** Whether figures are shown, for when somebody looks over one's shoulder. */
export const amounts = persisted("amounts", ["shown", "hidden"], () => {});
