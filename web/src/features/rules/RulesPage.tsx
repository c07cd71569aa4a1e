import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { rules } from "#/api/rules";
import { number } from "#/lib/words";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { moved } from "./order";
import { RuleLine } from "./RuleLine";
import { Suggested } from "./Suggested";
import { stageOf, stages } from "./words";

/** Suggested rules and, below them, all rules in the order in which they run. */
export function RulesPage() {
  const can = useCan();
  const go = useNavigate();
  const { data, error, refetch } = useQuery(rules);
  const every = data ?? [];
  const proposed = every.filter((r) => r.proposed);
  const all = every.filter((r) => !r.proposed);
  const on = all.filter((r) => r.enabled).length;
  const of = number(all.length);
  const own = every.filter((r) => !r.is_system).length;
  return (
    <>
      <PageHeader
        title={t`Rules`}
        sub={
          data
            ? plural({ on }, { one: `# of ${of} active, in run order`, other: `# of ${of} active, in run order` })
            : undefined
        }
      >
        {can.write && (
          <Button kind="filled" icon="plus" onClick={() => void go({ to: "/rules/new", search: {} })}>
            <Trans>New rule</Trans>
          </Button>
        )}
      </PageHeader>
      <Page>
        <LookOnly />
        {error && <Fault error={error} what={t`rules`} retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Skeleton rows={6} />
          </Card>
        )}
        {data && own === 0 && (
          <Card>
            <Empty
              title={t`No rules yet`}
              action={
                can.write && (
                  <Link className="link" to="/review">
                    <Trans>Go to Review</Trans>
                  </Link>
                )
              }
            >
              <Trans>
                Create one from any transaction: open it in Review or Transactions and choose “Create rule”.
              </Trans>
            </Empty>
          </Card>
        )}
        <Suggested rules={proposed} writes={can.write} />
        {stages.map((s) => {
          const here = all.map((r, at) => ({ r, at })).filter(({ r }) => stageOf(r.priority)?.stage === s.stage);
          if (here.length === 0) return null;
          return (
            <Card key={s.stage} flush title={i18n._(s.name)} aside={i18n._(s.says)}>
              <Lines label={t`Rules: ${{ order: i18n._(s.name) }}`}>
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
