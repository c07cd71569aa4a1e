import { useSyncExternalStore } from "react";

/** A choice that this browser keeps: the theme, whether amounts are hidden. */
export function kept<T extends string>(name: string, values: readonly [T, ...T[]], applied: (v: T) => void) {
  const listeners = new Set<() => void>();
  const read = (): T => {
    const v = localStorage.getItem(name);
    return values.find((x) => x === v) ?? values[0];
  };
  let now = read();
  applied(now);
  return {
    get: () => now,
    set(v: T) {
      now = v;
      localStorage.setItem(name, v);
      applied(v);
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
}

/** Which colours: those of the system, or one's own choice. */
export const theme = kept("theme", ["system", "light", "dark"], (v) => {
  if (v === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = v;
});

/** Whether figures are shown, for when somebody looks over one's shoulder. */
export const amounts = kept("amounts", ["shown", "hidden"], () => {});
