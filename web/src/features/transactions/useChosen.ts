import { useState } from "react";
import type { Row } from "#/api/transactions";

/** Which transactions of the list are selected: some by their ids, or all that match its filters. */
export type Chosen = { ids: ReadonlySet<string>; all: boolean };

const none: Chosen = { ids: new Set(), all: false };

export function useChosen(row: (index: number) => Row | undefined) {
  const [chosen, set] = useState(none);
  const [from, setFrom] = useState<number | null>(null);
  return {
    ...chosen,
    some: chosen.all || chosen.ids.size > 0,
    has: (id: string) => chosen.all || chosen.ids.has(id),
    toggle(index: number) {
      const id = row(index)?.id;
      if (!id) return;
      setFrom(index);
      set(({ ids, all }) => {
        if (all) return none;
        const left = new Set(ids);
        if (!left.delete(id)) left.add(id);
        return { ids: left, all: false };
      });
    },
    /** Chooses all rows between the last one that was chosen and this one. */
    upTo(index: number) {
      const [a, b] = [from ?? index, index].sort((x, y) => x - y) as [number, number];
      const more: string[] = [];
      for (let i = a; i <= b; i++) {
        const id = row(i)?.id;
        if (id) more.push(id);
      }
      setFrom(index);
      set(({ ids }) => ({ ids: new Set([...ids, ...more]), all: false }));
    },
    everything: () => set({ ids: new Set(), all: true }),
    clear: () => set(none),
  };
}
