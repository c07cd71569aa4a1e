import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { cancelJob, type Job, job } from "#/api/jobs";
import { number, transactions } from "#/lib/words";
import { Button } from "#/ui/Button";
import { Note, Progress } from "#/ui/Form";
import { useEnd } from "./banks";
import { showError } from "./edit";

/** A running sync. Stopping it keeps the transactions that have already come in. */
export function Syncing({ job: id, onEnd }: { job: string; onEnd: (j: Job) => void }) {
  const { data } = useQuery(job(id));
  useEnd(data, onEnd);
  const done = data?.progress.done ?? 0;
  const total = data?.progress.total;
  const far =
    done === 0
      ? []
      : [
          total
            ? t`${{ done: number(done) }} of about ${plural({ total }, { one: "# transaction", other: "# transactions" })}`
            : transactions(done),
        ];
  return (
    <Note>
      <span className="grow" aria-live="polite">
        {[data?.state === "queued" ? t`Queued` : t`Syncing…`, ...far].join(" · ")}
        <Progress label={t`Syncing`} done={done} of={total} />
      </span>
      <Button onClick={() => void cancelJob(id).catch(showError)}>
        <Trans>Stop</Trans>
      </Button>
    </Note>
  );
}
