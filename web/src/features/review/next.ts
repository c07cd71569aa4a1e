import { t } from "@lingui/core/macro";

type Connection = {
  next_sync_at: string | null;
  institution_name: string | null;
  paused: boolean;
  status: string;
};

/** The bank that syncs next, and the time of that sync. */
export function soonest(all: Connection[], now: Date): { at: string; bank: string } | null {
  const due = all
    .filter((c) => !c.paused && c.status === "active" && c.next_sync_at && new Date(c.next_sync_at) > now)
    .sort((a, b) => ((a.next_sync_at ?? "") < (b.next_sync_at ?? "") ? -1 : 1))[0];
  return due?.next_sync_at ? { at: due.next_sync_at, bank: due.institution_name ?? t`your bank` } : null;
}
