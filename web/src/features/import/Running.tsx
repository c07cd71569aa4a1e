import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import type { Imported } from "#/api/files";
import { ended, job } from "#/api/jobs";
import { sentence, settle, undo } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Note, Progress } from "#/ui/Form";
import { Lines } from "#/ui/Lines";
import { went } from "./before";

const n = (x: number) => x.toLocaleString("en");
const payments = (x: number) => `${n(x)} ${x === 1 ? "payment" : "payments"}`;

/** An import on its way, and what it did. Its address can be opened again, also after the server restarted. */
export function Running({ id, writes, onDone }: { id: string; writes: boolean; onDone: () => void }) {
  const client = useQueryClient();
  const { data: j, error, refetch } = useQuery(job(id));
  const over = j !== undefined && ended(j);
  const into = over ? (j.result as Imported | null)?.account_id : undefined;
  useEffect(() => {
    if (into) went(id, into);
  }, [id, into]);
  useEffect(() => {
    if (over) void settle(client).then(() => client.invalidateQueries({ queryKey: ["connections"] }));
  }, [over, client]);
  if (error) return <Fault error={error} what="The import" retry={() => void refetch()} />;
  if (!j) return <Bones rows={2} />;
  if (!over)
    return (
      <Card title="Importing">
        <Progress label="How far the import is" done={j.progress.done} of={j.progress.total} />
        <p className="dim">
          {j.progress.total ? `${n(j.progress.done)} of ${payments(j.progress.total)}. ` : ""}You can leave this page;
          it goes on.
        </p>
      </Card>
    );
  if (j.state !== "succeeded" || !j.result)
    return (
      <Note mood="bad">
        <span className="grow">
          <strong>Nothing was imported.</strong>{" "}
          {sentence(j.error?.message ?? (j.state === "cancelled" ? "it was cancelled" : "the import failed"))}
        </span>
        <Button onClick={onDone}>Try another file</Button>
      </Note>
    );
  return <Done result={j.result as Imported} writes={writes} onDone={onDone} />;
}

function Done({ result: r, writes, onDone }: { result: Imported; writes: boolean; onDone: () => void }) {
  const client = useQueryClient();
  const [back, setBack] = useState(false);
  const [busy, setBusy] = useState(false);
  const account = useQuery(accounts).data?.find((a) => a.id === r.account_id);
  const came = r.added + r.restored;
  const rest = [
    r.modified ? `${n(r.modified)} changed` : "",
    r.duplicates ? `${n(r.duplicates)} were here already` : "",
    r.rows_rejected ? `${n(r.rows_rejected)} could not be read` : "",
    r.rows_skipped
      ? r.rows_skipped === 1
        ? "1 line is not a payment"
        : `${n(r.rows_skipped)} lines are not payments`
      : "",
  ].filter(Boolean);
  return (
    <Card
      title={back ? "Undone" : came ? `${payments(came)} came in` : "Nothing new came in"}
      foot={
        <>
          {account && !back && (
            <Link className="link" to="/transactions" search={{ account: account.short_id }}>
              Look at them
            </Link>
          )}
          {writes && !back && r.change_id && (
            <Button
              icon="undo"
              disabled={busy}
              onClick={async () => {
                setBusy(true);
                setBack(r.change_id !== null && (await undo(client, [r.change_id])));
                setBusy(false);
              }}
            >
              Undo the import
            </Button>
          )}
          <Button kind="quiet" onClick={onDone}>
            Import another file
          </Button>
        </>
      }
    >
      <p>
        {back
          ? "The payments of this file are gone again, and so is the account if nothing else is in it."
          : `${account ? `Into ${accountName(account)}. ` : ""}${rest.length ? `${rest.join(", ")}.` : ""}`}
      </p>
      {r.rejected.length > 0 && (
        <Lines label="Rows that could not be read">
          {r.rejected.map((x) => (
            <li key={x.row}>
              Row {n(x.row)}: {sentence(x.reason)}
            </li>
          ))}
        </Lines>
      )}
    </Card>
  );
}
