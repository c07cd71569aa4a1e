import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import type { Imported } from "#/api/files";
import { ended, job } from "#/api/jobs";
import { dayShort, localDay } from "#/lib/dates";
import { sentence, settle, undo } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { refusal } from "#/parts/refusals";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Note, Progress } from "#/ui/Form";
import { Lines } from "#/ui/Lines";
import { went } from "./before";
import { proofWord, rowOf } from "./words";

/** A running import, then its result. The address can be opened again, even after the server has restarted. */
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
  if (error) return <Fault error={error} what={t`the import`} retry={() => void refetch()} />;
  if (!j) return <Skeleton rows={2} />;
  if (!over)
    return (
      <Card title={t`Importing…`}>
        <Progress label={t`Import progress`} done={j.progress.done} of={j.progress.total} />
        <p className="dim">
          {j.progress.total
            ? `${t`${{ done: i18n.number(j.progress.done) }} of ${plural(j.progress.total, { one: "# transaction", other: "# transactions" })}.`} `
            : ""}
          <Trans>You can leave this page.</Trans>
        </p>
      </Card>
    );
  if (j.state !== "succeeded" || !j.result)
    return (
      <Note mood="bad">
        <span className="grow">
          <strong>
            <Trans>Import failed. Nothing was saved.</Trans>
          </strong>{" "}
          {j.error ? refusal(j.error) : j.state === "cancelled" && t`It was canceled.`}
        </span>
        <Button onClick={onDone}>
          <Trans>Choose another file</Trans>
        </Button>
      </Note>
    );
  return <Done result={j.result as Imported} writes={writes} onDone={onDone} />;
}

function Done({ result: r, writes, onDone }: { result: Imported; writes: boolean; onDone: () => void }) {
  const client = useQueryClient();
  const [back, setBack] = useState(false);
  const [busy, setBusy] = useState(false);
  const account = useQuery(accounts).data?.find((a) => a.id === r.account_id);
  const all = useQuery(accounts).data;
  const names = r.accounts.map((a) => all?.find((x) => x.id === a.account_id));
  const came = r.added + r.restored;
  const rest = [
    r.modified && plural(r.modified, { one: "# updated", other: "# updated" }),
    r.duplicates && plural(r.duplicates, { one: "# already imported", other: "# already imported" }),
    r.likely_duplicates &&
      plural(r.likely_duplicates, { one: "# likely duplicate left out", other: "# likely duplicates left out" }),
    r.rows_rejected && plural(r.rows_rejected, { one: "# couldn’t be read", other: "# couldn’t be read" }),
    r.rows_skipped &&
      plural(r.rows_skipped, { one: "# line wasn’t a transaction", other: "# lines weren’t transactions" }),
  ].filter(Boolean);
  return (
    <Card
      title={
        back
          ? t`Import undone`
          : came
            ? plural(came, { one: "Imported # transaction", other: "Imported # transactions" })
            : t`No new transactions`
      }
      foot={
        <>
          {account && !back && (
            <Link className="link" to="/transactions" search={{ account: account.short_id }}>
              <Trans>View transactions</Trans>
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
              <Trans>Undo import</Trans>
            </Button>
          )}
          <Button kind="quiet" onClick={onDone}>
            <Trans>Import another file</Trans>
          </Button>
        </>
      }
    >
      <p>
        {back
          ? t`The imported transactions were removed, and the account too if it’s empty.`
          : [names.length === 1 && account && t`Imported into ${{ account: accountName(account) }}.`, rest.join(" · ")]
              .filter(Boolean)
              .join(" ")}
      </p>
      {!back &&
        r.accounts.map((a, i) => {
          const of = names[i];
          const proof = of && proofWord(a.proof, of.iso_currency_code);
          const count = plural(a.added, { one: "# new transaction", other: "# new transactions" });
          return (
            (proof || r.accounts.length > 1) && (
              <p key={a.key} className={a.proof.status === "off" ? undefined : "dim"}>
                {r.accounts.length > 1 && of && `${accountName(of)}: ${count}. `}
                {proof}
              </p>
            )
          );
        })}
      {account?.review_from && came > 0 && !back && (
        <p className="dim">
          {t`Transactions before ${{ day: dayShort(account.review_from, localDay(new Date())) }} don’t need review.`}{" "}
          <Link className="link" to="/transactions" search={{ account: account.short_id, uncategorized: true }}>
            <Trans>View uncategorized</Trans>
          </Link>
        </p>
      )}
      {r.rejected.length > 0 && (
        <Lines label={t`Rows that couldn’t be read`}>
          {r.rejected.map((x) => (
            <li key={x.row}>{rowOf(x.row, sentence(x.reason))}</li>
          ))}
        </Lines>
      )}
    </Card>
  );
}
