import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ApiError } from "#/api/client";
import { rule, suggestions } from "#/api/rules";
import { transaction } from "#/api/transactions";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Page } from "#/ui/Page";
import { Applied } from "./Applied";
import { Editor } from "./Editor";
import { blank, formFrom, formOf } from "./form";

/** The page for a new rule, made from scratch or from a transaction. */
export function NewRulePage() {
  const can = useCan();
  const { from, category } = useSearch({ from: "/rules/new" });
  const origin = useQuery({ ...transaction(from ?? ""), enabled: from !== undefined });
  const offers = useQuery({ ...suggestions(from ?? "", category), enabled: from !== undefined });
  const of = offers.isPending ? undefined : origin.data; // a suggestion is not necessary
  return (
    <>
      <PageHeader title={t`New rule`} sub={of && <bdi>{t`from ${{ payee: of.payee_name }}`}</bdi>} />
      {can.known && !can.write && (
        <Page>
          <LookOnly />
        </Page>
      )}
      {origin.error && <Fault error={origin.error} what={t`the transaction`} retry={() => void origin.refetch()} />}
      {(!from || of) && (
        <Editor
          key={of?.id}
          start={of ? formFrom(of, category, offers.data?.candidates[0]) : blank}
          offers={offers.data}
          writes={can.write}
        />
      )}
      {from && !of && !origin.error && <Waiting />}
    </>
  );
}

/** The page of a saved rule. */
export function RulePage() {
  const can = useCan();
  const go = useNavigate({ from: "/rules/$id" });
  const { id } = useParams({ from: "/rules/$id" });
  const { job, saved } = useSearch({ from: "/rules/$id" });
  const { data, error, refetch } = useQuery(rule(id));
  if (error instanceof ApiError && error.status === 404) return <Gone />;
  return (
    <>
      <PageHeader title={data?.name ?? t`Rule`} />
      {(job || (can.known && !can.write)) && (
        <Page>
          <LookOnly />
          {job && <Applied id={job} saved={saved} writes={can.write} onClose={() => void go({ search: {} })} />}
        </Page>
      )}
      {error && <Fault error={error} what={t`the rule`} retry={() => void refetch()} />}
      {!data && !error && <Waiting />}
      {data && (
        <Editor
          key={`${data.id} ${data.updated_at}`}
          start={formOf(data)}
          saved={data}
          writes={can.write && !data.is_system}
        />
      )}
    </>
  );
}

/** Shown if the rule does not exist, because it was deleted or its creation was undone. */
const Gone = () => (
  <>
    <PageHeader title={t`Rule`} />
    <Page>
      <Card>
        <Empty
          title={t`Rule deleted`}
          action={
            <Link className="link" to="/rules">
              <Trans>View all rules</Trans>
            </Link>
          }
        >
          <Trans>Changes it made are kept. You can undo them in Activity.</Trans>
        </Empty>
      </Card>
    </Page>
  </>
);

const Waiting = () => (
  <Page>
    <Card>
      <Skeleton rows={8} />
    </Card>
  </Page>
);
