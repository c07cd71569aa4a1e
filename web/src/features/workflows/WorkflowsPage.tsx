import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { plansWaiting, type Workflow, workflows } from "#/api/workflows";
import { moment } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Cost } from "#/ui/Amount";
import { Bones, Card, Empty } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Progress } from "#/ui/Form";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";
import { Facts, Page } from "#/ui/Page";
import { WorkflowLine } from "./WorkflowLine";
import { planned } from "./words";

/** Those with a plan that waits come first, then those that are on. */
const rank = (w: Workflow) => (w.last_run?.plan_state === "waiting" ? 0 : w.enabled ? 1 : 2);

/** The household's own agents: what each does, when it starts next, what it cost, and how often it was right. */
export function WorkflowsPage() {
  const can = useCan();
  const { data, error, refetch } = useQuery(workflows);
  const all = [...(data ?? [])].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
  const on = all.filter((w) => w.enabled && w.trigger !== "manual").length;
  const unset = all.length > 0 && all.every((w) => w.model_source === "none");
  return (
    <>
      <Top title="Workflows" sub={data ? `${on} of ${all.length} start by themselves` : undefined} />
      <Page aside={<Month />}>
        <LookOnly />
        {error && <Fault error={error} what="The workflows" retry={() => void refetch()} />}
        {unset && <NoModel admin={can.admin} />}
        <Waiting />
        <Card title="All workflows" flush>
          {!data && !error && <Bones rows={7} />}
          {data && all.length === 0 && (
            <Empty title="No workflows">Restart the server: those that come with coffer are then here again.</Empty>
          )}
          <Lines label="Workflows">
            {all.map((w) => (
              <WorkflowLine key={w.id} workflow={w} writes={can.write} />
            ))}
          </Lines>
        </Card>
      </Page>
    </>
  );
}

/** Nothing runs before a model is set, so that this is the first thing to do. */
const NoModel = ({ admin }: { admin: boolean }) => (
  <Card warn>
    <Empty
      title="Set a model first"
      action={
        admin && (
          <Link className="link" to="/settings">
            Set a model in Settings
          </Link>
        )
      }
    >
      Workflows ask a language model: one of a provider with your key, or one on a computer of yours. Until one is set,
      none of them can run and nothing is sent anywhere. {admin ? "" : "An admin of the household can set one."}
    </Empty>
  </Card>
);

/** The plans that a person must decide about. */
function Waiting() {
  const { data } = useQuery(plansWaiting);
  if (!data?.runs.length) return null;
  const count = `${data.runs.length}${data.has_more ? "+" : ""}`;
  return (
    <Card title="Plans that wait for you" aside={count} flush warn>
      <Lines label="Plans">
        {data.runs.map((r) => (
          <Item
            key={r.id}
            mark={<Tile tone={4} icon="bolt" />}
            name={<bdi>{r.workflow_name}</bdi>}
            hint={`${planned(r.plan)} · ${moment(r.finished_at ?? r.created_at)}`}
            open={(name) => (
              <Link to="/runs/$id" params={{ id: r.short_id }}>
                {name}
              </Link>
            )}
            end={<Icon name="chev" small />}
          />
        ))}
      </Lines>
    </Card>
  );
}

/** What models cost this month, against what they may. */
function Month() {
  const a = useQuery(overview).data?.agents;
  return (
    <Card
      title="Models this month"
      foot={
        <Link className="link" to="/agents" search={{}}>
          Ceiling and quiet hours
        </Link>
      }
    >
      {a ? (
        <>
          <Facts
            facts={[
              ["Spent", <Cost key="spent" usd={a.spent_usd} />],
              ["Ceiling", a.ceiling_usd === null ? "None" : <Cost key="ceiling" usd={a.ceiling_usd} />],
            ]}
          />
          {a.ceiling_usd !== null && <Progress label="Spent of the ceiling" done={a.spent_usd} of={a.ceiling_usd} />}
        </>
      ) : (
        <p className="dim">No model was asked yet.</p>
      )}
    </Card>
  );
}
