import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { cashflow } from "#/api/cashflow";
import { overview } from "#/api/overview";
import { summary } from "#/api/transactions";
import { firstDay, lastDay, localDay, monthAbbr, monthName, monthOf, shift } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { compact } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { Stepper } from "#/parts/Stepper";
import { useMoney } from "#/ui/Amount";
import { Card, Skeleton } from "#/ui/Card";
import { each } from "#/ui/Guard";
import { stale } from "#/ui/Page";
import { mainCurrency, openedOn, thirteen } from "./figures";
import { Needs } from "./Needs";
import css from "./OverviewPage.module.css";
import { ThisMonth } from "./ThisMonth";
import { WentTo } from "./WentTo";

/** Parts further down the page. Their script is loaded after the rest. */
const Against = lazy(() => import("./Against").then((m) => ({ default: m.Against })));
const Months = lazy(() => import("#/charts/Months").then((m) => ({ default: m.Months })));
const Balances = lazy(() => import("./Balances").then((m) => ({ default: m.Balances })));
const RecentChanges = lazy(() => import("./RecentChanges").then((m) => ({ default: m.RecentChanges })));
const Welcome = lazy(() => import("./Welcome").then((m) => ({ default: m.Welcome })));

const step = "month";

/** The month so far, everything that needs attention, and where the money went. */
export function OverviewPage() {
  const go = useNavigate({ from: "/" });
  const requested = useSearch({ from: "/" }).month;
  const { data, error, refetch } = useQuery(overview);
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  // The household's date is nearly always the same as the browser's, so the page does not wait for it.
  const today = data?.today ?? localDay(new Date());
  const newest = monthOf(today);
  const opened = openedOn(today, data?.data.last_date);
  const month = requested ?? opened;
  // One request has the days of all 13 months, and so also those of the chosen month and the month before it.
  const first = shift(newest, -12) < shift(month, -1) ? shift(newest, -12) : shift(month, -1);
  const days = useQuery(summary({ group_by: ["day"], start_date: firstDay(first), end_date: lastDay(newest) }));
  const flow = useQuery(
    cashflow({ start_date: firstDay(month), end_date: lastDay(month), compare: "previous_period" }),
  );
  const choose = (m: string) => void go({ search: { month: m === opened ? undefined : m }, resetScroll: false });
  useKeys({
    "[": () => choose(shift(month, -1)),
    "]": () => month !== newest && choose(shift(month, 1)),
  });
  const trouble = error ?? days.error ?? flow.error;
  if (data && !data.data.first_date)
    return (
      <Suspense>
        <Welcome overview={data} />
      </Suspense>
    );
  const currency =
    mainCurrency(days.data?.groups ?? []) ??
    data?.balances[0]?.iso_currency_code ??
    data?.accounts[0]?.iso_currency_code ??
    "EUR";
  const shown = flow.data?.currencies.find((c) => c.iso_currency_code === currency);
  const others = (flow.data?.currencies ?? []).filter((c) => c !== shown);
  const books = { first: data?.data.first_date, last: data?.data.last_date };
  return (
    <>
      <PageHeader title={t`Overview`}>
        <Stepper
          name={monthName(month)}
          short={`${monthAbbr(month)} ${month.slice(0, 4)}`}
          what={step}
          last={month === newest}
          onBack={() => choose(shift(month, -1))}
          onOn={() => choose(shift(month, 1))}
        />
      </PageHeader>
      <div className={css.page} {...stale(flow.isPlaceholderData)}>
        {trouble && (
          <Fault
            error={trouble}
            what={t`the overview`}
            retry={() => void Promise.all([refetch(), days.refetch(), flow.refetch()])}
          />
        )}
        {!trouble && (!days.data || !flow.data) && (
          <>
            <div className={css.wide}>
              <Card>
                <Skeleton tall />
                <Skeleton tall />
              </Card>
            </div>
            <div className={css.narrow}>
              <Card>
                <Skeleton rows={5} />
              </Card>
            </div>
          </>
        )}
        {days.data && flow.data && (
          <>
            <div className={css.wide}>
              {each(
                <>
                  <div className={css.first}>
                    <ThisMonth
                      month={month}
                      today={today}
                      currency={currency}
                      sums={shown}
                      others={others}
                      days={days.data.groups}
                      notes={flow.data.notes}
                      books={books}
                      onChoose={choose}
                    />
                  </div>
                  <div className="desk">
                    <WentTo month={month} flow={shown} currency={currency} books={books} onChoose={choose} />
                  </div>
                  <Card
                    title={t`Last 13 months`}
                    aside={
                      <span className={css.legend}>
                        <i className={css.in} /> <Trans>Money in</Trans> <i className={css.out} />{" "}
                        <Trans>Money out</Trans> <i className={css.left} /> <Trans>Net</Trans>
                      </span>
                    }
                  >
                    <Suspense fallback={<Skeleton rows={6} />}>
                      <Months
                        months={thirteen(days.data.groups, newest, currency)}
                        chosen={month}
                        onChoose={choose}
                        say={(c) => money(c, currency)}
                        axis={(c) => (hidden ? "" : compact(c, currency))}
                      />
                    </Suspense>
                  </Card>
                  <Suspense fallback={<Skeleton rows={4} />}>
                    <RecentChanges />
                  </Suspense>
                </>,
              )}
            </div>
            <div className={css.narrow}>
              {each(
                <>
                  <div className={css.second}>
                    {data ? <Needs overview={data} notes={flow.data.notes} /> : <Skeleton rows={4} />}
                  </div>
                  <div className={css.third}>
                    <Suspense fallback={<Skeleton rows={6} />}>
                      <Against
                        month={month}
                        today={today}
                        currency={currency}
                        flow={shown}
                        period={flow.data.period}
                        books={books}
                      />
                    </Suspense>
                  </div>
                  <Suspense fallback={<Skeleton rows={3} />}>{data && <Balances overview={data} />}</Suspense>
                </>,
              )}
            </div>
          </>
        )}
      </div>
    </>
  );
}
