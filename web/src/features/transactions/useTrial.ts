import { useState } from "react";
import { ApiError } from "#/api/client";
import { type BulkBody, type BulkResult, bulk, type Filters, someOf } from "#/api/transactions";
import { showError, useBulk } from "#/parts/edit";
import type { BulkChange } from "./bulkChange";

/** The preview of a change to many transactions. It waits for confirmation. */
export type Trial = {
  change: BulkChange;
  of: BulkBody;
  would: BulkResult;
  again: boolean;
  /** The transactions whose category a person set and the change would replace. */
  byHand: { count: number; names: string[] };
};

const few = 3;
const nobody = { count: 0, names: [] };

/** Finds the transactions of a change whose category a person set. */
function categorizedByHand(of: BulkBody, change: BulkChange) {
  if (change.set.category === undefined || of.filter?.held === false) return nobody;
  const ids = of.transaction_ids;
  if (ids && ids.length > 100) return nobody;
  return someOf({ ...(of.filter as Filters), ...(ids && { ids }), category_source: "user" }, few);
}

/**
 * Previews a change to many transactions. On confirmation, it is applied only if the same number of transactions still
 * matches.
 */
export function useTrial(onDone: () => void) {
  const [trial, setTrial] = useState<Trial | null>(null);
  const write = useBulk();
  const start = async (of: BulkBody, change: BulkChange, again = false) => {
    try {
      const [would, byHand] = await Promise.all([bulk({ ...of, dry_run: true }), categorizedByHand(of, change)]);
      setTrial({ of, change, again, would, byHand });
    } catch (e) {
      showError(e);
    }
  };
  return {
    trial,
    busy: write.isPending,
    start,
    stop: () => setTrial(null),
    /** Repeats the preview without transactions whose category a person set. */
    async spare() {
      if (!trial) return;
      const { filter, transaction_ids: ids, set } = trial.of;
      await start({ filter: { ...filter, ...(ids && { ids }), held: false }, set }, trial.change);
    },
    async confirm() {
      if (!trial) return;
      const { of, change, would } = trial;
      const body = of.filter ? { ...of, expect: would.matched } : of;
      try {
        await write.mutateAsync({ body, text: change.text(would.changed) });
        setTrial(null);
        onDone();
      } catch (e) {
        if (e instanceof ApiError && e.code === "CONFLICT") await start(of, change, true);
      }
    },
  };
}
