import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ended, job } from "#/api/jobs";
import type { Applied as Result } from "#/api/rules";
import { sentence, settle, undo } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { Button } from "#/ui/Button";
import { Note, Progress } from "#/ui/Form";

const n = (x: number) => x.toLocaleString("en");

type Props = {
  id: string;
  /** The change that saved the rule for this application. */
  saved: string | undefined;
  writes: boolean;
  onClose: () => void;
};

/** A rule on its way through the payments that are here, what it changed, and its way back. */
export function Applied({ id, saved, writes, onClose }: Props) {
  const client = useQueryClient();
  const go = useNavigate();
  const [back, setBack] = useState(false);
  const [busy, setBusy] = useState(false);
  const { data: j, error, refetch } = useQuery(job(id));
  const over = j !== undefined && ended(j);
  useEffect(() => {
    if (over) void settle(client);
  }, [over, client]);
  if (error) return <Fault error={error} what="How far the rule is" retry={() => void refetch()} />;
  if (!j) return null;
  if (!over)
    return (
      <Note>
        <span className="grow">
          Going through your payments
          {j.progress.total ? `: ${n(j.progress.done)} of ${n(j.progress.total)}` : ""}. You can leave this page; it
          goes on.
          <Progress label="How far the rule is" done={j.progress.done} of={j.progress.total} />
        </span>
      </Note>
    );
  const r = j.result as Result | null;
  if (j.state !== "succeeded" || !r)
    return <Note mood="bad">{sentence(j.error?.message ?? "it was stopped before it was done")}</Note>;
  const ids = r.change_ids.length ? r.change_ids : r.change_id ? [r.change_id] : [];
  const undoAll = async (rule: string) => {
    setBusy(true);
    await undo(client, [rule, ...ids], "Undone, together with the rule", () => go({ to: "/rules" }));
    setBusy(false);
  };
  return (
    <Note mood={back ? "info" : "good"}>
      <span className="grow">
        <strong>{back ? "Undone" : r.changed === 1 ? "Changed 1 payment" : `Changed ${n(r.changed)} payments`}</strong>{" "}
        {back ? "The rule stays, and its payments are as they were before." : `of ${n(r.matched)} that match.`}
      </span>
      {writes && !back && ids.length > 0 && (
        <Button
          icon="undo"
          disabled={busy}
          onClick={async () => {
            setBack(await undo(client, ids));
          }}
        >
          Undo what it changed
        </Button>
      )}
      {writes && !back && saved && (
        <Button icon="undo" disabled={busy} onClick={() => void undoAll(saved)}>
          Undo it all
        </Button>
      )}
      <Button kind="quiet" icon="x" aria-label="Close" onClick={onClose} />
    </Note>
  );
}
