import { t } from "@lingui/core/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Connection, linkSession, reauthSession, syncNow } from "#/api/connections";
import { ended, type Job } from "#/api/jobs";
import { toasts } from "#/ui/toasts";
import { sorry } from "./edit";
import { proven } from "./proof";
import { refusal } from "./refusals";

/** Where the bank's page sends people back to. The server takes an address only if nobody can listen in. */
function back(path: string): string | undefined {
  const { protocol, hostname, origin } = location;
  const near = hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
  return protocol === "https:" || near ? `${origin}${path}` : undefined;
}

const leave = (deed: () => Promise<{ url: string }>) => proven(deed).then((s) => location.assign(s.url), sorry);

/** Opens the page on which a bank is linked. */
export const linkBank = (provider: "plaid" | "teller", path = "/accounts") =>
  leave(() => linkSession(provider, back(path)));

/** Opens the page on which someone signs in at a linked bank again. */
export const signInAgain = (id: string) => leave(() => reauthSession(id, back("/accounts")));

/** Whether a person must sign in at the bank, now or before its permission ends. */
export const wantsSignIn = (c: Pick<Connection, "status" | "status_reason">) =>
  c.status === "pending_reauth" || (c.status === "active" && c.status_reason === "CONSENT_EXPIRING");

/** The data that a sync may have changed. */
const touched = [["accounts"], ["connections"], ["sync"], ["overview"], ["transactions"], ["changes"], ["cashflow"]];

/** Starts the sync of a connection, and knows its job until it has ended. */
export function useSync(running: string | undefined) {
  const client = useQueryClient();
  const [job, setJob] = useState<string>();
  const start = useMutation({
    mutationFn: syncNow,
    onSuccess: (j) => setJob(j.id),
    onError: sorry,
  });
  const over = (j: Job) => {
    setJob(undefined);
    if (j.state === "failed") toasts.say({ bad: true, text: j.error ? refusal(j.error) : t`Sync failed.` });
    for (const queryKey of touched) void client.invalidateQueries({ queryKey });
  };
  return { job: job ?? running, start: start.mutate, starting: start.isPending, over };
}

/** Says once that a job has ended. */
export function useEnd(job: Job | undefined, over: (j: Job) => void) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: shown once for each job
  useEffect(() => {
    if (job && ended(job)) over(job);
  }, [job?.id, job?.state]);
}
