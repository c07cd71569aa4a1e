import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "#/api/client";
import { live, measurable, promptBlocks, startWorkflow, type Workflow, workflow } from "#/api/workflows";
import { draftWaits } from "#/lib/drafts";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { recordHint } from "#/parts/record";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Cost } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Tag } from "#/ui/Chip";
import { Note } from "#/ui/Form";
import { Fold } from "#/ui/Lines";
import { Facts, Page } from "#/ui/Page";
import { EvalForm } from "./EvalForm";
import { Runs } from "./Runs";
import { WorkflowForm } from "./WorkflowForm";
import { useTurn } from "./WorkflowLine";
import css from "./Workflows.module.css";
import { nextOf, recordOf, some, startsOf } from "./words";

/** A workflow: what it is told, what it may do and spend, how often it was right, and its runs. */
export function WorkflowPage() {
  const { id } = useParams({ from: "/workflows/$id" });
  const { data, error, refetch } = useQuery(workflow(id));
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <>
      <Top title={data?.name ?? "Workflow"} sub={data && nextOf(data)}>
        {data && <Start workflow={data} />}
      </Top>
      {gone && (
        <Page>
          <Card>
            <Empty
              title="There is no such workflow"
              action={
                <Link className="link" to="/workflows">
                  See all workflows
                </Link>
              }
            >
              It was deleted or renamed.
            </Empty>
          </Card>
        </Page>
      )}
      {error && !gone && <Fault error={error} what="The workflow" retry={() => void refetch()} />}
      {!data && !error && (
        <Page>
          <Card>
            <Bones rows={8} />
          </Card>
        </Page>
      )}
      {data && <Whole workflow={data} />}
    </>
  );
}

/** Starts a run, or leads to the one that is under way. */
function Start({ workflow: w }: { workflow: Workflow }) {
  const can = useCan();
  const go = useNavigate();
  const open = (id: string) => go({ to: "/runs/$id", params: { id } });
  const start = useDeed({ act: () => startWorkflow(w.slug), touches: ["workflows"] });
  const under = w.last_run && live(w.last_run) ? w.last_run : null;
  if (under)
    return (
      <Button kind="filled" icon="eye" onClick={() => void open(under.short_id)}>
        See it run
      </Button>
    );
  if (!can.write || w.model_source === "none") return null;
  return (
    <Button
      kind="filled"
      icon="bolt"
      disabled={start.isPending}
      onClick={() => start.mutate(undefined, { onSuccess: (r) => void open(r.short_id) })}
    >
      Run now
    </Button>
  );
}

const sources = { own: "chosen here", default: "the household’s default", none: "none is set" } as const;

function Whole({ workflow: w }: { workflow: Workflow }) {
  const can = useCan();
  const turn = useTurn(w);
  const [measures, measure] = useState(false);
  const [edits, edit] = useState(() => draftWaits(`workflow ${w.slug}`));
  const model = w.model ? `${w.model} · ${sources[w.model_source]}` : `Default · ${sources[w.model_source]}`;
  return (
    <Page
      aside={
        <>
          <Card
            title="What it may"
            foot={
              can.write && (
                <>
                  <Button icon="edit" onClick={() => edit(true)}>
                    Change
                  </Button>
                  {w.trigger !== "manual" && (
                    <Button kind="quiet" disabled={turn.isPending} onClick={() => turn.mutate(!w.enabled)}>
                      {w.enabled ? "Turn off" : "Turn on"}
                    </Button>
                  )}
                </>
              )
            }
          >
            <Facts
              facts={[
                ["Cost a run", w.max_cost_usd === null ? "No cap of its own" : <Cost key="cap" usd={w.max_cost_usd} />],
                ["Payments a run", w.scope === "read_only" ? "None, it only reads" : mostOf(w.max_writes)],
                ["Turns", `At most ${w.max_turns}`],
                ["Time", `At most ${some(w.max_minutes, "minute")}`],
                ...(w.scope === "read_only" ? [] : [["Changes", changesOf(w)] as const]),
                ["Starts", startsOf(w)],
                ["Model", model],
              ]}
            />
          </Card>
          <Card
            title="How it does"
            foot={
              can.write &&
              measurable(w) &&
              w.model_source !== "none" && <Button onClick={() => measure(true)}>Measure it</Button>
            }
          >
            <Facts
              facts={[
                ["A run costs", <Estimate key="estimate" workflow={w} />],
                [
                  "Record",
                  <span key="record" title={recordHint}>
                    {recordOf(w.record)}
                  </span>,
                ],
              ]}
            />
          </Card>
        </>
      }
    >
      <LookOnly />
      {w.model_source === "none" && (
        <Note mood="warn">
          <span className="grow">It cannot run until a model is set.</span>
          {can.admin && (
            <Link className="link" to="/settings">
              Set a model in Settings
            </Link>
          )}
        </Note>
      )}
      <Card title="What it does" flush>
        <p className={css.words}>
          <bdi>{w.description}</bdi>
        </p>
        <Fold name="What the model is asked">
          <p className={css.text}>{w.prompt}</p>
        </Fold>
        <Blocks slugs={w.prompt_blocks} />
        <Fold name={w.tools.length ? `It may use ${some(w.tools.length, "tool")}` : allTools(w)}>
          <p className={css.tags}>
            {w.tools.map((t) => (
              <Tag key={t} slug={t} />
            ))}
          </p>
        </Fold>
      </Card>
      <Runs slug={w.slug} />
      {measures && <EvalForm workflow={w} onClose={() => measure(false)} />}
      {edits && <WorkflowForm workflow={w} onClose={() => edit(false)} />}
    </Page>
  );
}

/** The texts that stand before the prompt, which workflows share. */
function Blocks({ slugs }: { slugs: string[] }) {
  const all = useQuery(promptBlocks).data ?? [];
  return slugs.map((slug) => {
    const block = all.find((b) => b.slug === slug);
    return (
      <Fold key={slug} name={`Told before that: ${block?.title ?? slug}`}>
        <p className={css.text}>{block?.body}</p>
      </Fold>
    );
  });
}

const mostOf = (most: number | null) => (most === null ? "As many as agents may a day" : `At most ${most}`);

const changesOf = (w: Workflow) => {
  if (w.dry_run) return "Planned, and you apply them";
  return w.makes_rules ? "Made at once, rules included" : "Made at once; rules are planned";
};

const allTools = (w: Workflow) =>
  w.worklist ? "It only decides about rows of a list" : "It may use every tool that it is allowed";

function Estimate({ workflow: { estimate: e } }: { workflow: Workflow }) {
  if (!e) return "Not known yet";
  return (
    <>
      {e.cost_usd === null ? "" : "About "}
      <Cost usd={e.cost_usd} />, {some(e.input_tokens, "token")} in and {some(e.output_tokens, "token")} out,{" "}
      {e.runs ? `the mean of ${some(e.runs, "run")}` : "a guess before its first run"}
    </>
  );
}
