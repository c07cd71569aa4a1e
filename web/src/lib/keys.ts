import { useEffect, useEffectEvent } from "react";

/** Actions by key. "g t" is G and then T; "Mod a" is A with Ctrl or Cmd. */
export type Keys = Record<string, (e: KeyboardEvent) => void>;

const typing = (t: EventTarget | null) =>
  t instanceof HTMLElement &&
  (/^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) ||
    t.isContentEditable ||
    t.closest("[role=dialog],[role=listbox],[role=menu]") !== null);

/** Runs the action of a pressed key, unless someone types in a field. Keys with Ctrl or Cmd run only "Mod" actions. */
export function useKeys(keys: Keys) {
  const act = useEffectEvent((e: KeyboardEvent, chord: string) => {
    // G followed by a letter opens a screen, which the shell handles. The open screen's action for that letter must not
    // run.
    const f = keys[chord] ?? (/^(Mod|g) /.test(chord) ? undefined : keys[e.key]);
    if (!f) return false;
    e.preventDefault();
    f(e);
    return true;
  });
  useEffect(() => {
    let before = "";
    let at = 0;
    const listen = (e: KeyboardEvent) => {
      if (e.defaultPrevented || e.isComposing || e.altKey || typing(e.target)) return;
      if (e.ctrlKey || e.metaKey) {
        act(e, `Mod ${e.key}`);
        return;
      }
      if (e.key === "Enter" && e.target instanceof Element && e.target.closest("a, button")) return;
      const chord = before && e.timeStamp - at < 900 ? `${before} ${e.key}` : e.key;
      before = act(e, chord) ? "" : e.key;
      at = e.timeStamp;
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}
