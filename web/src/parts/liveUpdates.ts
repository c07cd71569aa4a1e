import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { beat, pulse } from "#/api/pulse";
import { warnOfLostEdits } from "./conflicts";
import { undoStack } from "./undoStack";

const idleAfter = 3_600_000; // milliseconds without input after which the tab counts as unused

/**
 * Keeps every screen up to date. Changes by others are loaded, and a person whose change was overwritten sees a
 * message.
 */
export function useLiveUpdates() {
  const client = useQueryClient();
  const touched = useRef(Date.now());
  const { data } = useQuery({
    ...pulse,
    // Polling keeps the session alive, so it stops in an unused tab.
    refetchInterval: () => (Date.now() - touched.current < idleAfter ? beat : false),
  });
  const before = useRef<typeof data>(undefined);
  useEffect(() => {
    const touch = () => {
      const slept = Date.now() - touched.current >= idleAfter;
      touched.current = Date.now();
      if (slept) void client.refetchQueries({ queryKey: pulse.queryKey });
    };
    const events = ["pointerdown", "keydown", "wheel"] as const;
    for (const e of events) addEventListener(e, touch, { passive: true });
    return () => {
      for (const e of events) removeEventListener(e, touch);
    };
  }, [client]);
  useEffect(() => {
    const previous = before.current;
    before.current = data;
    if (!previous || !data || previous === data) return;
    const isOwn =
      data.last_change_id && undoStack.knows(data.last_change_id) && previous.running_jobs === data.running_jobs;
    const again = isOwn
      ? Promise.resolve()
      : client.invalidateQueries({ predicate: (q) => q.queryKey[0] !== "pulse" && q.queryKey[0] !== "session" });
    void again.then(() => warnOfLostEdits(client));
  }, [client, data]);
}
