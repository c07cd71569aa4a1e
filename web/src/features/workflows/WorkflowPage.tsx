import { i18n } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "#/api/client";
import { live, measurable, promptBlocks, startWorkflow, type Workflow, workflow } from "#/api/workflows";
import { draftWaits } from "#/lib/drafts";
import { number } from "#/lib/words";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { recordHint } from "#/parts/record";
import { LookOnly, useCan } from "#/parts/rights";
import { useAction } from "#/parts/useAction";
import { Cost } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Tag } from "#/ui/Chip";
import { Note } from "#/ui/Form";
import { Fold } from "#/ui/Lines";
import { Facts, Page } from "#/ui/Page";
import { EvalForm } from "./EvalForm";
import { Runs } from "./Runs";
import { WorkflowForm } from "./WorkflowForm";
import { useTurn } from "./WorkflowLine";
import css from "./Workflows.module.css";
import { draftOf, nextOf, recordOf, startsOf, tokens } from "./words";

/** A workflow: its instructions, limits, track record and runs. */
export function WorkflowPage() {
  const { id } = useParams({ from: "/workflows/$id" });
  const { data, error, refetch } = useQuery(workflow(id));
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <>
      <PageHeader title={data?.name ?? t`Workflow`} sub={data && nextOf(data)}>
        {data && <Start workflow={data} />}
      </PageHeader>
      {gone && (
        <Page>
          <Card>
            <Empty
              title={t`Workflow not found`}
              action={
                <Link className="link" to="/agents">
                  <Trans>View all workflows</Trans>
                </Link>
              }
            >
              <Trans>It may have been deleted or renamed.</Trans>
            </Empty>
          </Card>
        </Page>
      )}
      {error && !gone && <Fault error={error} what={t`the workflow`} retry={() => void refetch()} />}
      {!data && !error && (
        <Page>
          <Card>
            <Skeleton rows={8} />
          </Card>
        </Page>
      )}
      {data && <Whole workflow={data} />}
    </>
  );
}

/** Starts a run, or opens the one that is under way. */
function Start({ workflow: w }: { workflow: Workflow }) {
  const can = useCan();
  const go = useNavigate();
  const open = (id: string) => go({ to: "/runs/$id", params: { id } });
  const start = useAction({ act: () => startWorkflow(w.slug), touches: ["workflows"] });
  const under = w.last_run && live(w.last_run) ? w.last_run : null;
  if (under)
    return (
      <Button kind="filled" icon="eye" onClick={() => void open(under.short_id)}>
        <Trans>View run</Trans>
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
      <Trans>Run now</Trans>
    </Button>
  );
}

const sources = { own: msg`set here`, default: msg`household default`, none: msg`not set` } as const;

function Whole({ workflow: w }: { workflow: Workflow }) {
  const can = useCan();
  const turn = useTurn(w);
  const [measures, measure] = useState(false);
  const [edits, edit] = useState(() => draftWaits(draftOf(w.slug)));
  const model = `${w.model ?? t`Default`} · ${i18n._(sources[w.model_source])}`;
  return (
    <Page
      aside={
        <>
          <Card
            title={t`Settings`}
            foot={
              can.write && (
                <>
                  <Button icon="edit" onClick={() => edit(true)}>
                    <Trans>Edit</Trans>
                  </Button>
                  {w.trigger !== "manual" && (
                    <Button kind="quiet" disabled={turn.isPending} onClick={() => turn.mutate(!w.enabled)}>
                      {w.enabled ? t`Turn off` : t`Turn on`}
                    </Button>
                  )}
                </>
              )
            }
          >
            <Facts
              facts={[
                [
                  t`Cost limit per run`,
                  w.max_cost_usd === null ? t`No limit` : <Cost key="cap" usd={w.max_cost_usd} />,
                ],
                [t`Transactions per run`, w.scope === "read_only" ? t`None (view only)` : limitText(w.max_writes)],
                [t`Turns`, upTo(w.max_turns)],
                [t`Time`, plural(w.max_minutes, { one: "Up to # minute", other: "Up to # minutes" })],
                ...(w.scope === "read_only" ? [] : [[t`Changes`, changesOf(w)] as const]),
                [t({ message: "Runs", context: "when it starts" }), startsOf(w)],
                [t`Model`, model],
              ]}
            />
          </Card>
          <Card
            title={t`Performance`}
            foot={
              can.write &&
              measurable(w) &&
              w.model_source !== "none" && <Button onClick={() => measure(true)}>{t`Test accuracy`}</Button>
            }
          >
            <Facts
              facts={[
                [t`Cost per run`, <Estimate key="estimate" workflow={w} />],
                [
                  t`Track record`,
                  <span key="record" title={recordHint()}>
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
          <span className="grow">{t`Choose a model to run this workflow.`}</span>
          {can.admin && (
            <Link className="link" to="/settings/models">
              <Trans>Choose model</Trans>
            </Link>
          )}
        </Note>
      )}
      <Card title={t`Instructions`} flush>
        <p className={css.words}>
          <bdi>{w.description}</bdi>
        </p>
        <Fold name={t`Prompt`}>
          <p className={css.text}>{w.prompt}</p>
        </Fold>
        <Blocks slugs={w.prompt_blocks} />
        <Fold name={toolsOf(w)}>
          <p className={css.tags}>
            {w.tools.map((tool) => (
              <Tag key={tool} slug={tool} />
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

/** The texts before the prompt. Several workflows share them. */
function Blocks({ slugs }: { slugs: string[] }) {
  const all = useQuery(promptBlocks).data ?? [];
  return slugs.map((slug) => {
    const block = all.find((b) => b.slug === slug);
    return (
      <Fold key={slug} name={t`Shared instructions: ${{ title: block?.title ?? slug }}`}>
        <p className={css.text}>{block?.body}</p>
      </Fold>
    );
  });
}

const upTo = (limit: number) => t`Up to ${{ limit: number(limit) }}`;
const limitText = (limit: number | null) => (limit === null ? t`Up to the daily agent limit` : upTo(limit));

const changesOf = (w: Workflow) => {
  if (w.dry_run) return t`Need your approval`;
  return w.makes_rules ? t`Applied automatically, including rules` : t`Applied automatically; rules need approval`;
};

const toolsOf = ({ tools, worklist }: Workflow) => {
  if (tools.length) return plural(tools.length, { one: "Can use # tool", other: "Can use # tools" });
  return worklist ? t`Categorizes a list, no other tools` : t`Can use all tools its permissions allow`;
};

const runsOf = (runs: number) =>
  runs ? plural(runs, { one: "average of # run", other: "average of # runs" }) : t`estimate before the first run`;

function Estimate({ workflow: { estimate: e } }: { workflow: Workflow }) {
  if (!e) return t`Unknown`;
  return (
    <>
      {e.cost_usd === null ? (
        <Cost usd={null} />
      ) : (
        <Trans>
          About <Cost usd={e.cost_usd} />
        </Trans>
      )}
      {["", tokens(e.input_tokens, e.output_tokens), runsOf(e.runs)].join(" · ")}
    </>
  );
}
