import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "#/api/client";
import { live, type Run, run, stopRun } from "#/api/workflows";
import { moment } from "#/lib/dates";
import { payments } from "#/lib/words";
import { useDeed } from "#/parts/deed";
import { sentence } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Cost } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Note, Progress } from "#/ui/Form";
import { Facts, Page } from "#/ui/Page";
import { Evaluation } from "./Evaluation";
import { Plan } from "./Plan";
import { Revert } from "./Revert";
import { Transcript } from "./Transcript";
import { limitOf, moodOf, some, statusOf, took } from "./words";

/** A run, while it goes on and afterwards: what it costs, what it said and did, and its way back. */
export function RunPage() {
  const { id } = useParams({ from: "/runs/$id" });
  const { data, error, refetch } = useQuery(run(id));
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <>
      <Top title={data?.workflow_name ?? "Run"} sub={data && `Run of ${moment(data.created_at)}`}>
        {data && <Deeds run={data} />}
      </Top>
      {gone && (
        <Page>
          <Card>
            <Empty
              title="There is no such run"
              action={
                <Link className="link" to="/workflows">
                  See all workflows
                </Link>
              }
            />
          </Card>
        </Page>
      )}
      {error && !gone && <Fault error={error} what="The run" retry={() => void refetch()} />}
      {!data && !error && (
        <Page>
          <Card>
            <Bones rows={8} />
          </Card>
        </Page>
      )}
      {data && <Whole run={data} />}
    </>
  );
}

/** Stops a run that is under way, and undoes one that has ended. */
function Deeds({ run: r }: { run: Run }) {
  const can = useCan();
  const [asks, ask] = useState(false);
  const stop = useDeed({ act: () => stopRun(r.id), touches: ["workflows"], said: "Stopped. What it did stays." });
  if (!can.write) return null;
  if (live(r))
    return (
      <Button kind="fault" icon="stop" disabled={stop.isPending} onClick={() => stop.mutate()}>
        Stop this run
      </Button>
    );
  if (r.changes.length === 0) return null;
  return (
    <>
      <Button icon="undo" onClick={() => ask(true)}>
        Undo this run
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
      {r.error && <Note mood="bad">{sentence(r.error.message)}</Note>}
      {r.status === "queued" && <Note>It starts as soon as a worker is free.</Note>}
      {!live(r) && r.plan.state !== "none" && <Plan run={r} />}
      {r.result && <Evaluation result={r.result} />}
      <Transcript run={r} />
    </Page>
  );
}

/** What a run cost and used, against what it may. */
function Figures({ run: r }: { run: Run }) {
  const of = r.limits;
  const facts: [string, React.ReactNode][] = [
    [
      "Status",
      <Badge key="status" mood={moodOf(r.status)}>
        {statusOf(r.status)}
      </Badge>,
    ],
    [
      live(r) ? "Cost so far" : "Cost",
      <>
        <Cost usd={r.cost_usd} />
        {of.max_cost_usd !== null && (
          <>
            {" of at most "}
            <Cost usd={of.max_cost_usd} />
            {r.cost_usd !== null && <Progress label="Cost of its cap" done={r.cost_usd} of={of.max_cost_usd} />}
          </>
        )}
      </>,
    ],
    [
      "Turns",
      <>
        {r.turns} of at most {of.max_turns}
        <Progress label="Turns" done={r.turns} of={of.max_turns} />
      </>,
    ],
    ["Tokens", `${some(r.input_tokens, "token")} in, ${some(r.output_tokens, "token")} out`],
    ["Time", `${took(r.started_at, r.finished_at)}, at most ${some(of.max_minutes, "minute")}`],
    ["Changes", r.trigger === "eval" ? "None, it only measures" : changed(r)],
    ...(r.left_open
      ? [["Left for you", `${payments(r.left_open)} that it was not sure about`] as [string, string]]
      : []),
    [
      "Started",
      r.trigger === "manual"
        ? `By ${r.asked_by}`
        : { schedule: "By its schedule", after_sync: "After a sync", eval: "As a measurement" }[r.trigger],
    ],
  ];
  return (
    <Card
      title="This run"
      foot={
        <>
          <Link className="link" to="/workflows/$id" params={{ id: r.workflow_slug }}>
            The workflow
          </Link>
          {r.changes.length > 0 && (
            <Link className="link" to="/activity" search={{ actor: r.id }}>
              What it changed
            </Link>
          )}
          {r.report_id && (
            <Link className="link" to="/reports" search={{ open: r.report_id }}>
              Its report
            </Link>
          )}
        </>
      }
    >
      <Facts facts={facts} />
    </Card>
  );
}

function changed(r: Run): string {
  const most = r.limits.max_writes === null ? "" : `, at most ${payments(r.limits.max_writes)}`;
  if (r.mode === "planning")
    return r.changes.length ? `${some(r.changes.length, "change")}, the rest planned` : "Planned, not made";
  return `${r.changes.length === 0 ? "None" : some(r.changes.length, "change")}${most}`;
}
