/** One's own changes since the page was loaded, for the keys of undo and redo. */
let done: string[][] = [];
let undone: string[][] = [];
const known = new Set<string>();
/** Of a revert, the changes that it is about, and whether it did them again. */
const reverts = new Map<string, { of: string[]; again: boolean }>();
const taken = new Set<string>();

const same = (a: string[], b: string[]) => a.length === b.length && a.every((x, i) => x === b[i]);

export const undoStack = {
  /** Records a change. `shown` says that all screens were asked for again already. */
  did(ids: string[], shown = true) {
    if (!ids.length || same(done.at(-1) ?? [], ids)) return;
    if (shown) for (const id of ids) known.add(id);
    done.push(ids);
    undone = [];
  },
  /** Records undone changes and the reverts that undid them: reverting those is the redo. */
  undid(ids: string[], backs: string[]) {
    for (const id of backs) known.add(id);
    for (const id of ids) {
      const revert = reverts.get(id);
      const again = revert !== undefined && !revert.again;
      const of = revert?.of ?? [id];
      for (const x of of) {
        if (again) taken.delete(x);
        else taken.add(x);
      }
      for (const b of backs) reverts.set(b, { of: [...(reverts.get(b)?.of ?? []), ...of], again });
    }
    if (undone.some((d) => same(d, ids))) {
      undone = undone.filter((d) => !same(d, ids));
      done.push(backs);
    } else {
      done = done.filter((d) => !same(d, ids));
      if (backs.length) undone.push(backs);
    }
  },
  /** Whether a change is one's own, after which the screen was asked for again already. */
  knows: (id: string) => known.has(id),
  /** Whether a change still stands: it was not undone, or it was done again. */
  stands: (id: string) => !taken.has(id),
  last: () => done.at(-1),
  next: () => undone.at(-1),
  clear() {
    done = [];
    undone = [];
    reverts.clear();
    taken.clear();
  },
};
