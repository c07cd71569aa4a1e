import { t } from "@lingui/core/macro";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Connection, linkOutcome, linkSession, reauthSession, syncNow } from "#/api/connections";
import { ended, type Job } from "#/api/jobs";
import type { ProviderName } from "#/api/settings";
import { toasts } from "#/ui/toasts";
import { showError } from "./edit";
import { withReauth } from "./reauth";
import { refusal } from "./refusals";

/**
 * The address to which the bank's page sends people back. The server accepts only HTTPS addresses and this computer's
 * own, because nobody can listen in on those.
 */
function back(path: string): string | undefined {
  const { protocol, hostname, origin } = location;
  const near = hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
  return protocol === "https:" || near ? `${origin}${path}` : undefined;
}

const leave = (action: () => Promise<{ url: string }>) =>
  withReauth(action).then((s) => location.assign(s.url), showError);

/** Opens the page that connects a bank. If a person chose a bank from the list, it is the page of that bank. */
export const linkBank = (provider: ProviderName, path = "/accounts", institution_id?: string) =>
  leave(() => linkSession(provider, back(path), { institution_id }));

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Connects banks with the values of a provider's form, and waits until the server has made the connection. */
export async function linkWith(provider: ProviderName, fields: Record<string, string>) {
  const made = await linkSession(provider, back("/accounts"), { fields });
  for (;;) {
    const now = await linkOutcome(made.token);
    if (now.state === "done") return now.connection_id;
    if (now.state === "failed") throw new Error(now.error?.message ?? t`Not connected.`);
    if (now.error) {
      location.assign(made.url); // a person must decide something on that page
      return null;
    }
    await pause(1000);
  }
}

/** Opens the page on which a person signs in again at a connected bank. */
export const signInAgain = (id: string) => leave(() => reauthSession(id, back("/accounts")));

/** Whether a person must sign in at the bank, now or before its permission ends. */
export const wantsSignIn = (c: Pick<Connection, "status" | "status_reason">) =>
  c.status === "pending_reauth" || (c.status === "active" && c.status_reason === "CONSENT_EXPIRING");

/** The data that a sync can change. */
const touched = [["accounts"], ["connections"], ["sync"], ["overview"], ["transactions"], ["changes"], ["cashflow"]];

/** Starts the sync of a connection, and keeps its job until the job ends. */
export function useSync(running: string | undefined) {
  const client = useQueryClient();
  const [job, setJob] = useState<string>();
  const start = useMutation({
    mutationFn: syncNow,
    onSuccess: (j) => setJob(j.id),
    onError: showError,
  });
  const over = (j: Job) => {
    setJob(undefined);
    if (j.state === "failed") toasts.say({ bad: true, text: j.error ? refusal(j.error) : t`Sync failed.` });
    for (const queryKey of touched) void client.invalidateQueries({ queryKey });
  };
  return { job: job ?? running, start: start.mutate, starting: start.isPending, over };
}

/** Calls `over` once when a job has ended. */
export function useEnd(job: Job | undefined, over: (j: Job) => void) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: shown once for each job
  useEffect(() => {
    if (job && ended(job)) over(job);
  }, [job?.id, job?.state]);
}
