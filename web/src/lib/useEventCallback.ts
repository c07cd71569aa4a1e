import { useCallback, useRef } from "react";

/** A function that stays the same while its body changes, so that what is given it need not be drawn again. */
export function useEventCallback<A extends unknown[], R>(f: (...args: A) => R): (...args: A) => R {
  const latest = useRef(f);
  latest.current = f;
  return useCallback((...args: A) => latest.current(...args), []);
}
