import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { accounts } from "#/api/accounts";
import { overview } from "#/api/overview";
import { type UpcomingAccount, upcoming } from "#/api/upcoming";
import { dayShort, lastDay, localDay, monthAbbr, monthName, monthOf, shift } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { cents } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { Notes } from "#/parts/Notes";
import { PageHeader } from "#/parts/PageHeader";
import { Stepper } from "#/parts/Stepper";
import { Sum, useMoney } from "#/ui/Amount";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Calendar } from "./Calendar";
import { DayList } from "./DayList";
import { daysOf, daysUntil, lowest, monthsAhead, sums, sumWords } from "./days";
import css from "./UpcomingPage.module.css";

const step = "month";

/** A calendar of expected recurring payments, and the projected balances of accounts. */
export function UpcomingPage() {
  const go = useNavigate({ from: "/recurring/calendar" });
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const now = monthOf(today);
  const last = shift(now, monthsAhead);
  const requested = useSearch({ from: "/recurring/calendar" }).month ?? now;
  const month = requested < now ? now : requested > last ? last : requested;
  const { data, error, refetch, isPlaceholderData } = useQuery(upcoming(daysUntil(month, today)));
  const choose = (m: string) => void go({ search: { month: m === now ? undefined : m }, resetScroll: false });
  useKeys({
    "[": () => month !== now && choose(shift(month, -1)),
    "]": () => month !== last && choose(shift(month, 1)),
  });
  const days = daysOf(data?.days ?? [], month);
  return (
    <>
      <PageHeader title={t`Recurring`}>
        <Stepper
          name={monthName(month)}
          short={`${monthAbbr(month)} ${month.slice(0, 4)}`}
          what={step}
          first={month === now}
          last={month === last}
          onBack={() => choose(shift(month, -1))}
          onOn={() => choose(shift(month, 1))}
        />
      </PageHeader>
      <Page
        stale={isPlaceholderData}
        aside={data && data.accounts.length > 0 && <Ahead rows={data.accounts} month={month} today={today} />}
      >
        {error && <Fault error={error} what={t`upcoming payments`} retry={() => void refetch()} />}
        <Notes notes={data?.notes} />
        {!data && !error && (
          <Card>
            <Skeleton rows={6} />
          </Card>
        )}
        {data?.days.length === 0 && (
          <Card>
            <Empty
              title={t`Nothing due through ${{ day: dayShort(lastDay(month), today) }}`}
              action={
                <Link className="link" to="/recurring">
                  <Trans>View recurring</Trans>
                </Link>
              }
            >
              <Trans>Upcoming bills, subscriptions and paychecks appear here once coffer has found them.</Trans>
            </Empty>
          </Card>
        )}
        {data && data.days.length > 0 && (
          <Card title={monthName(month)} aside={<Sums days={days} />} flush>
            <Calendar month={month} today={today} days={days} all={data} />
            <DayList today={today} days={days} all={data} />
            {days.length === 0 && (
              <p className={`phone dim ${css.none}`}>
                <Trans>Nothing due in {{ month: monthName(month) }}.</Trans>
              </p>
            )}
          </Card>
        )}
      </Page>
    </>
  );
}

/** Money out and money in during a month, by currency. */
function Sums({ days }: { days: Parameters<typeof sums>[0] }) {
  const money = useMoney();
  return sumWords(sums(days), money);
}

/** The lowest projected balance of each account until the end of the month. */
function Ahead({ rows, month, today }: { rows: readonly UpcomingAccount[]; month: string; today: string }) {
  const known = useQuery(accounts).data ?? [];
  const money = useMoney();
  return (
    <Card title={t`Projected balances through ${{ day: dayShort(lastDay(month), today) }}`} flush>
      <Lines label={t`Projected balances`}>
        {rows.map((a) => {
          const type = known.find((x) => x.id === a.account_id)?.type;
          const debt = type === "credit" || type === "loan";
          const low = a.lowest && cents(a.lowest.balance);
          return (
            <Item
              key={a.account_id}
              name={<bdi>{a.name}</bdi>}
              open={(name) => (
                <Link to="/accounts/$id" params={{ id: a.account_id }} search={{}}>
                  {name}
                </Link>
              )}
              hint={lowest(a, debt, today, (n) => money(n, a.iso_currency_code))}
              end={low !== null && <Sum value={low} currency={a.iso_currency_code} />}
            />
          );
        })}
      </Lines>
    </Card>
  );
}
