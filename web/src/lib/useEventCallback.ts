import { useCallback, useRef } from "react";

/**
 * A function whose identity never changes but that always runs the newest body. Components that get it are not rendered
 * again.
 */
export function useEventCallback<A extends unknown[], R>(f: (...args: A) => R): (...args: A) => R {
  const latest = useRef(f);
  latest.current = f;
  return useCallback((...args: A) => latest.current(...args), []);
}
