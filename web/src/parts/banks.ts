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

/** Where the bank's page sends people back to. The server takes an address only if nobody can listen in. */
function back(path: string): string | undefined {
  const { protocol, hostname, origin } = location;
  const near = hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
  return protocol === "https:" || near ? `${origin}${path}` : undefined;
}

const leave = (action: () => Promise<{ url: string }>) =>
  withReauth(action).then((s) => location.assign(s.url), showError);

/** Opens the page on which a bank is linked, of the bank that a person has chosen if there is a list. */
export const linkBank = (provider: ProviderName, path = "/accounts", institution_id?: string) =>
  leave(() => linkSession(provider, back(path), { institution_id }));

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Connects banks with the values of a provider's form, and waits until the server has exchanged them. */
export async function linkWith(provider: ProviderName, fields: Record<string, string>) {
  const made = await linkSession(provider, back("/accounts"), { fields });
  for (;;) {
    const now = await linkOutcome(made.token);
    if (now.state === "done") return now.connection_id;
    if (now.state === "failed") throw new Error(now.error?.message ?? t`Not connected.`);
    if (now.error) {
      location.assign(made.url); // a person decides there
      return null;
    }
    await pause(1000);
  }
}

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
    onError: showError,
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
