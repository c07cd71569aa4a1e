import { useQuery } from "@tanstack/react-query";
import { cancelJob, type Job, job } from "#/api/jobs";
import { Button } from "#/ui/Button";
import { Note, Progress } from "#/ui/Form";
import { useEnd } from "./banks";
import { sorry } from "./edit";

/** A sync while it runs. Stopping it keeps what has come in. */
export function Syncing({ job: id, onEnd }: { job: string; onEnd: (j: Job) => void }) {
  const { data } = useQuery(job(id));
  useEnd(data, onEnd);
  const done = data?.progress.done ?? 0;
  const total = data?.progress.total;
  return (
    <Note>
      <span className="grow" aria-live="polite">
        {data?.state === "queued" ? "Waits for its turn" : "Fetching now"}
        {done > 0 &&
          ` · ${done.toLocaleString("en")}${total ? ` of about ${total.toLocaleString("en")}` : ""} payments`}
        <Progress label="Fetching" done={done} of={total} />
      </span>
      <Button onClick={() => void cancelJob(id).catch(sorry)}>Stop</Button>
    </Note>
  );
}
