import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { rules } from "#/api/rules";
import { plansWaiting } from "#/api/workflows";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { Plans } from "#/parts/Plans";
import { LookOnly, useCan } from "#/parts/rights";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Page } from "#/ui/Page";
import { Suggested } from "./Suggested";

/** Suggestions by agents and workflows that wait for a person: changes to apply, and rules to accept. */
export function SuggestionsPage() {
  const can = useCan();
  const list = useQuery(rules);
  const plans = useQuery(plansWaiting);
  const proposed = (list.data ?? []).filter((r) => r.proposed);
  const error = list.error ?? plans.error;
  const count = proposed.length + (plans.data?.runs.length ?? 0);
  return (
    <>
      <PageHeader
        title={t`Review`}
        sub={count ? plural(count, { one: "# suggestion", other: "# suggestions" }) : undefined}
      />
      <Page>
        <LookOnly />
        {error && (
          <Fault
            error={error}
            what={t`suggestions`}
            retry={() => void Promise.all([list.refetch(), plans.refetch()])}
          />
        )}
        {(!list.data || !plans.data) && !error && (
          <Card>
            <Skeleton rows={4} />
          </Card>
        )}
        {list.data && plans.data && count === 0 && (
          <Card>
            <Empty
              title={t`No suggestions`}
              action={
                <Link className="link" to="/agents" search={{}}>
                  <Trans>View workflows</Trans>
                </Link>
              }
            >
              <Trans>
                Rules and changes that your agents suggest appear here. Nothing changes until you accept or apply them.
              </Trans>
            </Empty>
          </Card>
        )}
        <Plans />
        <Suggested rules={proposed} writes={can.write} />
      </Page>
    </>
  );
}
