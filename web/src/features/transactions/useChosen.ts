import { useState } from "react";
import type { Row } from "#/api/transactions";

/**
 * The selected transactions: some by their ids, or all that match the filters. Their rows are kept, because the sums
 * also need rows that are out of sight.
 */
export type Chosen = { ids: ReadonlyMap<string, Row>; all: boolean };

const none: Chosen = { ids: new Map(), all: false };

export function useChosen(row: (index: number) => Row | undefined) {
  const [chosen, set] = useState(none);
  const [from, setFrom] = useState<number | null>(null);
  return {
    ...chosen,
    some: chosen.all || chosen.ids.size > 0,
    has: (id: string) => chosen.all || chosen.ids.has(id),
    toggle(index: number) {
      const one = row(index);
      if (!one) return;
      setFrom(index);
      set(({ ids, all }) => {
        if (all) return none;
        const left = new Map(ids);
        if (!left.delete(one.id)) left.set(one.id, one);
        return { ids: left, all: false };
      });
    },
    /** Selects all rows between the last selected one and this one. */
    upTo(index: number) {
      const [a, b] = [from ?? index, index].sort((x, y) => x - y) as [number, number];
      const more: [string, Row][] = [];
      for (let i = a; i <= b; i++) {
        const one = row(i);
        if (one) more.push([one.id, one]);
      }
      setFrom(index);
      set(({ ids }) => ({ ids: new Map([...ids, ...more]), all: false }));
    },
    everything: () => set({ ids: new Map(), all: true }),
    clear: () => set(none),
  };
}
