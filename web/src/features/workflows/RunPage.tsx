import { i18n } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "#/api/client";
import { live, type Run, run, stopRun } from "#/api/workflows";
import { moment } from "#/lib/dates";
import { transactions } from "#/lib/words";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { changes } from "#/parts/plans";
import { refusal } from "#/parts/refusals";
import { LookOnly, useCan } from "#/parts/rights";
import { useAction } from "#/parts/useAction";
import { Cost } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Note, Progress } from "#/ui/Form";
import { Facts, Page } from "#/ui/Page";
import { Evaluation } from "./Evaluation";
import { Plan } from "./Plan";
import { Revert } from "./Revert";
import { Transcript } from "./Transcript";
import { limitOf, moodOf, statusOf, tokens, took } from "./words";

/** A run, while it goes on and afterwards: its cost, its transcript, its changes, and how to undo them. */
export function RunPage() {
  const { id } = useParams({ from: "/runs/$id" });
  const { data, error, refetch } = useQuery(run(id));
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <>
      <PageHeader
        title={data?.workflow_name ?? t({ message: "Run", context: "of a workflow" })}
        sub={data && t`Run from ${{ time: moment(data.created_at) }}`}
      >
        {data && <RunActions run={data} />}
      </PageHeader>
      {gone && (
        <Page>
          <Card>
            <Empty
              title={t`Run not found`}
              action={
                <Link className="link" to="/agents">
                  <Trans>View all workflows</Trans>
                </Link>
              }
            />
          </Card>
        </Page>
      )}
      {error && !gone && <Fault error={error} what={t`the run`} retry={() => void refetch()} />}
      {!data && !error && (
        <Page>
          <Card>
            <Skeleton rows={8} />
          </Card>
        </Page>
      )}
      {data && <Whole run={data} />}
    </>
  );
}

/** Stops a run that is under way, and undoes one that has ended. */
function RunActions({ run: r }: { run: Run }) {
  const can = useCan();
  const [asks, ask] = useState(false);
  const stop = useAction({
    act: () => stopRun(r.id),
    touches: ["workflows"],
    text: t`Run stopped. Its changes are kept`,
  });
  if (!can.write) return null;
  if (live(r))
    return (
      <Button kind="fault" icon="stop" disabled={stop.isPending} onClick={() => stop.mutate()}>
        <Trans>Stop run</Trans>
      </Button>
    );
  if (r.changes.length === 0) return null;
  return (
    <>
      <Button icon="undo" onClick={() => ask(true)}>
        <Trans>Undo run</Trans>
      </Button>
      {asks && <Revert run={r} onClose={() => ask(false)} />}
    </>
  );
}

function Whole({ run: r }: { run: Run }) {
  const limit = limitOf(r.limit, r.limits);
  return (
    <Page lead={<Figures run={r} />}>
      <LookOnly />
      {limit && <Note mood="warn">{limit}</Note>}
      {r.error && <Note mood="bad">{refusal(r.error)}</Note>}
      {r.status === "queued" && <Note>{t`Waiting to start…`}</Note>}
      {!live(r) && r.plan.state !== "none" && <Plan run={r} />}
      {r.result && <Evaluation result={r.result} />}
      <Transcript run={r} />
    </Page>
  );
}

/** The cost and usage of a run, and its limits. */
function Figures({ run: r }: { run: Run }) {
  const of = r.limits;
  const facts: [string, React.ReactNode][] = [
    [
      t`Status`,
      <Badge key="status" mood={moodOf(r.status)}>
        {statusOf(r.status)}
      </Badge>,
    ],
    [
      live(r) ? t`Cost so far` : t`Cost`,
      <>
        {of.max_cost_usd === null ? (
          <Cost usd={r.cost_usd} />
        ) : (
          <Trans>
            <Cost usd={r.cost_usd} /> of <Cost usd={of.max_cost_usd} />
          </Trans>
        )}
        {of.max_cost_usd !== null && r.cost_usd !== null && (
          <Progress label={t`Cost of limit`} done={r.cost_usd} of={of.max_cost_usd} />
        )}
      </>,
    ],
    [
      t`Turns`,
      <>
        {t`${{ turns: r.turns }} of ${{ limit: of.max_turns }}`}
        <Progress label={t`Turns`} done={r.turns} of={of.max_turns} />
      </>,
    ],
    [t`Tokens`, tokens(r.input_tokens, r.output_tokens)],
    [t`Time`, timeOf(r)],
    [t`Changes`, r.trigger === "eval" ? t`None (accuracy test)` : changed(r)],
    ...(r.left_open ? [[t`Left for you`, unsure(r.left_open)] as [string, string]] : []),
    [t`Started by`, r.trigger === "manual" ? r.asked_by : i18n._(starters[r.trigger])],
  ];
  return (
    <Card
      title={t`Run details`}
      foot={
        <>
          <Link className="link" to="/workflows/$id" params={{ id: r.workflow_slug }}>
            <Trans>View workflow</Trans>
          </Link>
          {r.changes.length > 0 && (
            <Link className="link" to="/activity" search={{ actor: r.id }}>
              <Trans>View changes</Trans>
            </Link>
          )}
          {r.report_id && (
            <Link className="link" to="/reports" search={{ open: r.report_id }}>
              <Trans>View report</Trans>
            </Link>
          )}
        </>
      }
    >
      <Facts facts={facts} />
    </Card>
  );
}

const starters = { schedule: msg`Schedule`, after_sync: msg`Sync`, eval: msg`Accuracy test` } as const;

const unsure = (n: number) =>
  plural(n, { one: "# transaction it wasn’t sure about", other: "# transactions it wasn’t sure about" });

function timeOf({ started_at, finished_at, limits }: Run): string {
  const time = took(started_at, finished_at);
  return t`${time} (${plural(limits.max_minutes, { one: "limit # minute", other: "limit # minutes" })})`;
}

function changed(r: Run): string {
  const made = r.changes.length ? changes(r.changes.length) : null;
  if (r.mode === "planning") return made ? t`${made}, the rest needs approval` : t`Needs approval`;
  if (r.limits.max_writes === null) return made ?? t`None`;
  const limit = transactions(r.limits.max_writes);
  return made ? t`${made} (limit ${limit})` : t`None (limit ${limit})`;
}
