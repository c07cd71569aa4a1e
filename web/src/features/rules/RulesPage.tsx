import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { rules } from "#/api/rules";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { moved } from "./order";
import { RuleLine } from "./RuleLine";
import { stageOf, stages } from "./words";

/** What agents propose, and below it the rules in the order in which they run. */
export function RulesPage() {
  const can = useCan();
  const go = useNavigate();
  const { data, error, refetch } = useQuery(rules);
  const every = data ?? [];
  const proposed = every.filter((r) => r.proposed);
  const all = every.filter((r) => !r.proposed);
  const on = all.filter((r) => r.enabled).length;
  const own = every.filter((r) => !r.is_system).length;
  return (
    <>
      <Top title="Rules" sub={data ? `${on} of ${all.length} are on, in the order in which they run` : undefined}>
        {can.write && (
          <Button kind="filled" icon="plus" onClick={() => void go({ to: "/rules/new", search: {} })}>
            New rule
          </Button>
        )}
      </Top>
      <Page>
        <LookOnly />
        {error && <Fault error={error} what="The rules" retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Bones rows={6} />
          </Card>
        )}
        {data && own === 0 && (
          <Card>
            <Empty
              title="No rules of your own yet"
              action={
                can.write && (
                  <Link className="link" to="/review">
                    Go to Review
                  </Link>
                )
              }
            >
              Make one from something you just filed: in Review or Transactions, choose a payment and “Make a rule”.
            </Empty>
          </Card>
        )}
        {proposed.length > 0 && (
          <Card
            flush
            title={proposed.length === 1 ? "1 proposed" : `${proposed.length} proposed`}
            aside="they do nothing until you accept them"
          >
            <Lines label="Proposed rules">
              {proposed.map((r) => (
                <RuleLine key={r.id} rule={r} writes={can.write} up={null} down={null} />
              ))}
            </Lines>
          </Card>
        )}
        {stages.map((s) => {
          const here = all.map((r, at) => ({ r, at })).filter(({ r }) => stageOf(r.priority)?.stage === s.stage);
          if (here.length === 0) return null;
          return (
            <Card key={s.stage} flush title={s.name} aside={s.says}>
              <Lines label={`Rules that run: ${s.option}`}>
                {here.map(({ r, at }) => (
                  <RuleLine key={r.id} rule={r} writes={can.write} up={moved(all, at, -1)} down={moved(all, at, 1)} />
                ))}
              </Lines>
            </Card>
          );
        })}
      </Page>
    </>
  );
}
