import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { type Recurring, recurring } from "#/api/recurring";
import { localDay } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { useMoney } from "#/ui/Amount";
import { Bones, Card, Empty } from "#/ui/Card";
import { Fold, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { RecurringLine } from "./RecurringLine";
import { sorted, yearly } from "./words";

/** Bills, subscriptions and income that repeat, what they come to per year, and what changed. */
export function RecurringPage() {
  const { data, error, refetch } = useQuery(recurring);
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const { write } = useCan();
  const s = sorted(data ?? []);
  const lines = (label: string, rows: readonly Recurring[]) => (
    <Lines label={label}>
      {rows.map((r) => (
        <RecurringLine key={r.id} one={r} today={today} writes={write} />
      ))}
    </Lines>
  );
  const late = s.out.filter((r) => r.status === "late").length;
  return (
    <>
      <Top title={t`Recurring`} sub={late > 0 ? plural(late, { one: "# overdue", other: "# overdue" }) : undefined} />
      <Page>
        <LookOnly />
        {error && <Fault error={error} what={t`recurring payments`} retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Bones rows={6} />
          </Card>
        )}
        {data?.length === 0 && (
          <Card>
            <Empty
              title={t`No recurring payments yet`}
              action={
                <Link className="link" to="/accounts" search={{}}>
                  <Trans>Connect a bank or import a statement</Trans>
                </Link>
              }
            >
              <Trans>
                coffer finds rent, subscriptions, bills and paychecks after each sync or import, usually after three
                similar transactions.
              </Trans>
            </Empty>
          </Card>
        )}
        {s.out.length > 0 && (
          <Card title={t`Bills and subscriptions`} aside={<Yearly rows={s.out} />} flush>
            {lines(t`Bills and subscriptions`, s.out)}
          </Card>
        )}
        {s.in.length > 0 && (
          <Card title={t`Income`} aside={<Yearly rows={s.in} />} flush>
            {lines(t`Income`, s.in)}
          </Card>
        )}
        {s.own.length > 0 && (
          <Card flush>
            <Fold
              name={plural(
                { count: s.own.length },
                { one: "# transfer, not included in totals", other: "# transfers, not included in totals" },
              )}
            >
              {lines(t`Transfers`, s.own)}
            </Fold>
          </Card>
        )}
        {s.ended.length > 0 && (
          <Card flush>
            <Fold name={plural({ count: s.ended.length }, { one: "# ended", other: "# ended" })}>
              {lines(t`Ended`, s.ended)}
            </Fold>
          </Card>
        )}
        {s.dismissed.length > 0 && (
          <Card flush>
            <Fold name={plural({ count: s.dismissed.length }, { one: "# dismissed", other: "# dismissed" })}>
              {lines(t({ message: "Dismissed", context: "recurring payments" }), s.dismissed)}
            </Fold>
          </Card>
        )}
      </Page>
    </>
  );
}

/** The sum of these per year, by currency. */
function Yearly({ rows }: { rows: readonly Recurring[] }) {
  const money = useMoney();
  const amount = [...yearly(rows)].map(([currency, n]) => money(n, currency)).join(" + ");
  return <Trans>{amount} per year</Trans>;
}
