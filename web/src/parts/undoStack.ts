/** The member's own changes since the page was loaded, for the keys of undo and redo. */
let done: string[][] = [];
let undone: string[][] = [];
const known = new Set<string>();
/** For each revert, the changes that it was about, and whether it redid them. */
const reverts = new Map<string, { of: string[]; again: boolean }>();
const taken = new Set<string>();

const same = (a: string[], b: string[]) => a.length === b.length && a.every((x, i) => x === b[i]);

export const undoStack = {
  /** Records a change. `shown` is true if the screens have already requested their data again. */
  did(ids: string[], shown = true) {
    if (!ids.length || same(done.at(-1) ?? [], ids)) return;
    if (shown) for (const id of ids) known.add(id);
    done.push(ids);
    undone = [];
  },
  /** Records undone changes and the reverts that undid them. Undoing these reverts is the redo. */
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
  /** Whether a change is the member's own and the screens have already requested their data again. */
  knows: (id: string) => known.has(id),
  /** Whether a change is in effect: it was not undone, or it was redone. */
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
