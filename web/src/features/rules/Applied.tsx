import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ended, job } from "#/api/jobs";
import type { Applied as Result } from "#/api/rules";
import { number } from "#/lib/words";
import { settle, undo } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { refusal } from "#/parts/refusals";
import { undoStack } from "#/parts/undoStack";
import { Button } from "#/ui/Button";
import { Note, Progress } from "#/ui/Form";

const changesOf = (r: Result) => (r.change_ids.length ? r.change_ids : r.change_id ? [r.change_id] : []);

type Props = {
  id: string;
  /** The id of the change that saved the rule before it was applied. */
  saved: string | undefined;
  writes: boolean;
  onClose: () => void;
};

/** The progress and the result of applying a rule to existing transactions, with a button to undo it. */
export function Applied({ id, saved, writes, onClose }: Props) {
  const client = useQueryClient();
  const go = useNavigate();
  const [back, setBack] = useState(false);
  const [busy, setBusy] = useState(false);
  const { data: j, error, refetch } = useQuery(job(id));
  const over = j !== undefined && ended(j);
  const made = over && j.state === "succeeded" ? (j.result as Result | null) : null;
  useEffect(() => {
    if (!over) return;
    if (made) undoStack.did(changesOf(made), false);
    void settle(client);
  }, [over, made, client]);
  if (error) return <Fault error={error} what={t`the progress`} retry={() => void refetch()} />;
  if (!j) return null;
  if (!over)
    return (
      <Note>
        <span className="grow">
          {j.progress.total
            ? t`Applying rule: ${{ done: number(j.progress.done) }} of ${{ total: number(j.progress.total) }}. You can leave this page.`
            : t`Applying rule. You can leave this page.`}
          <Progress label={t`Progress`} done={j.progress.done} of={j.progress.total} />
        </span>
      </Note>
    );
  const r = j.result as Result | null;
  if (j.state !== "succeeded" || !r)
    return <Note mood="bad">{j.error ? refusal(j.error) : t`It was stopped before it finished.`}</Note>;
  const ids = changesOf(r);
  const updated = number(r.changed);
  const undoAll = async (rule: string) => {
    setBusy(true);
    await undo(client, [rule, ...ids], t`Rule and changes undone`, () => go({ to: "/rules" }));
    setBusy(false);
  };
  return (
    <Note mood={back ? "info" : "good"}>
      <span className="grow">
        {back ? (
          <Trans>
            <strong>Changes undone.</strong> The rule is kept.
          </Trans>
        ) : (
          <Trans>
            <strong>Updated {updated}</strong> of{" "}
            <Plural value={r.matched} one="# matching transaction" other="# matching transactions" />.
          </Trans>
        )}
      </span>
      {writes && !back && ids.length > 0 && (
        <Button
          icon="undo"
          disabled={busy}
          onClick={async () => {
            setBack(await undo(client, ids));
          }}
        >
          <Trans>Undo changes</Trans>
        </Button>
      )}
      {writes && !back && saved && (
        <Button icon="undo" disabled={busy} onClick={() => void undoAll(saved)}>
          <Trans>Undo changes and rule</Trans>
        </Button>
      )}
      <Button kind="quiet" icon="x" aria-label={t`Close`} onClick={onClose} />
    </Note>
  );
}
