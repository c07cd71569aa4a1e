/**
 * A message about a finished action, shown once, often with a button to undo it. At most three are shown; equal
 * messages without a button are joined.
 */
export type Toast = {
  id: number;
  text: string;
  note?: string;
  bad?: boolean;
  undo?: () => void;
  /** The label of the button, if it is not "Undo". */
  label?: string;
  /** The changes that its button undoes. */
  of?: readonly string[];
  times: number;
};

const limit = 3;
let list: readonly Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(to: readonly Toast[]) {
  list = to;
  for (const f of listeners) f();
}

export const toasts = {
  get: () => list,
  listen(f: () => void) {
    listeners.add(f);
    return () => void listeners.delete(f);
  },
  drop: (id: number) => set(list.filter((t) => t.id !== id)),
  /** Removes toasts that offer to undo changes that are already undone. */
  dropOf: (ids: readonly string[]) => set(list.filter((t) => !t.of?.some((id) => ids.includes(id)))),
  clear: () => set([]),
  say(toast: Omit<Toast, "id" | "times">) {
    const same = list.find((t) => t.text === toast.text && t.note === toast.note && !t.undo && !toast.undo);
    if (same) set(list.map((t) => (t === same ? { ...t, times: t.times + 1 } : t)));
    else set([...list, { ...toast, id: next++, times: 1 }].slice(-limit));
  },
};
