import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { type Workflow, workflows } from "#/api/workflows";
import { number } from "#/lib/words";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { Plans } from "#/parts/Plans";
import { LookOnly, useCan } from "#/parts/rights";
import { Cost } from "#/ui/Amount";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Progress } from "#/ui/Form";
import { Lines } from "#/ui/Lines";
import { Facts, Page } from "#/ui/Page";
import { WorkflowLine } from "./WorkflowLine";

/** The order of workflows: those with a plan that waits come first, then those that are turned on. */
const rank = (w: Workflow) => (w.last_run?.plan_state === "waiting" ? 0 : w.enabled ? 1 : 2);

/** The household's workflows: their purpose, next run, cost, and track record. */
export function WorkflowsPage() {
  const can = useCan();
  const { data, error, refetch } = useQuery(workflows);
  const all = [...(data ?? [])].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  const on = all.filter((w) => w.enabled && w.trigger !== "manual").length;
  const of = number(all.length);
  const unset = all.length > 0 && all.every((w) => w.model_source === "none");
  return (
    <>
      <PageHeader
        title={t`AI agents`}
        sub={data ? plural({ on }, { one: `# of ${of} automated`, other: `# of ${of} automated` }) : undefined}
      />
      <Page aside={<Month />}>
        <LookOnly />
        {error && <Fault error={error} what={t`workflows`} retry={() => void refetch()} />}
        {unset && <NoModel admin={can.admin} />}
        <Plans />
        <Card title={t`All workflows`} flush>
          {!data && !error && <Skeleton rows={7} />}
          {data && all.length === 0 && (
            <Empty title={t`No workflows`}>
              <Trans>Restart the server to restore the built-in workflows.</Trans>
            </Empty>
          )}
          <Lines label={t`Workflows`}>
            {all.map((w) => (
              <WorkflowLine key={w.id} workflow={w} writes={can.write} />
            ))}
          </Lines>
        </Card>
      </Page>
    </>
  );
}

/** Without a model, no workflow can run, so choosing one is the first thing to do. */
const NoModel = ({ admin }: { admin: boolean }) => (
  <Card warn>
    <Empty
      title={t`Choose an AI model first`}
      action={
        admin && (
          <Link className="link" to="/settings/models">
            <Trans>Choose model</Trans>
          </Link>
        )
      }
    >
      <Trans>
        Workflows use an AI model: a hosted one with your API key, or one on your own computer. Nothing is sent anywhere
        until you choose one.
      </Trans>{" "}
      {!admin && <Trans>Ask an admin to set one up.</Trans>}
    </Empty>
  </Card>
);

/** This month's cost of models, and its limit. */
function Month() {
  const a = useQuery(overview).data?.agents;
  return (
    <Card
      title={t`AI spending this month`}
      foot={
        <Link className="link" to="/agents/limits" search={{}}>
          <Trans>Limits and quiet hours</Trans>
        </Link>
      }
    >
      {a ? (
        <>
          <Facts
            facts={[
              [t`Spent`, <Cost key="spent" usd={a.spent_usd} />],
              [
                t`Limit`,
                a.ceiling_usd === null ? (
                  t({ message: "None", context: "a limit" })
                ) : (
                  <Cost key="ceiling" usd={a.ceiling_usd} />
                ),
              ],
            ]}
          />
          {a.ceiling_usd !== null && <Progress label={t`Spent of limit`} done={a.spent_usd} of={a.ceiling_usd} />}
        </>
      ) : (
        <p className="dim">
          <Trans>No AI usage yet.</Trans>
        </p>
      )}
    </Card>
  );
}
