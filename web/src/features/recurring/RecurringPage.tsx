import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { type Recurring, recurring } from "#/api/recurring";
import { localDay } from "#/lib/dates";
import type { Purse } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { useMoney } from "#/ui/Amount";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Fold, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { RecurringLine } from "./RecurringLine";
import css from "./RecurringPage.module.css";
import { Strip } from "./Strip";
import { groupName, marksOf, monthly, sorted, yearly } from "./words";

export { ContractPage } from "./ContractPage";

/** The recurring payments by group, each group with its total per month and year, and the price changes. */
export function RecurringPage() {
  const { data, error, refetch } = useQuery(recurring);
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const { write } = useCan();
  const s = sorted(data ?? []);
  const lines = (label: string, rows: readonly Recurring[]) => (
    <Lines label={label}>
      {rows.map((r) => (
        <RecurringLine key={r.id} one={r} today={today} writes={write} marks={marksOf(r, data ?? [])} />
      ))}
    </Lines>
  );
  const late = s.groups.flatMap((g) => g.rows).filter((r) => r.status === "late").length;
  return (
    <>
      <PageHeader
        title={t`Recurring`}
        sub={late > 0 ? plural(late, { one: "# overdue", other: "# overdue" }) : undefined}
      />
      <Page>
        <LookOnly />
        {error && <Fault error={error} what={t`recurring payments`} retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Skeleton rows={6} />
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
        {s.groups.length > 0 && <Strip groups={s.groups} today={today} />}
        {s.groups.length > 0 && (
          <Card flush>
            {s.groups.map(({ group, rows }) => (
              <section key={group} aria-labelledby={group}>
                <header className={css.group}>
                  <h2 id={group}>{groupName(group)}</h2>
                  <span>{rows.length}</span>
                  <Sums rows={rows} />
                </header>
                {lines(groupName(group), rows)}
              </section>
            ))}
          </Card>
        )}
        {s.transfers.length > 0 && (
          <Card flush>
            <Fold
              name={plural(
                { count: s.transfers.length },
                {
                  one: "# transfer between your accounts, not included in totals",
                  other: "# transfers between your accounts, not included in totals",
                },
              )}
            >
              {lines(t`Transfers`, s.transfers)}
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

/** The total of a group by currency. */
function Sums({ rows }: { rows: readonly Recurring[] }) {
  const money = useMoney();
  const sumText = (p: Purse) => [...p].map(([currency, n]) => money(n, currency)).join(" + ");
  const amount = sumText(monthly(rows));
  return (
    <span className={css.end}>
      <span>
        <Trans>
          <b>{amount}</b> per month
        </Trans>
      </span>
      <span className="desk">
        <Trans>{{ amount: sumText(yearly(rows)) }} per year</Trans>
      </span>
    </span>
  );
}
