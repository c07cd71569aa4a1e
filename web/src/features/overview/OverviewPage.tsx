import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { cashflow } from "#/api/cashflow";
import { overview } from "#/api/overview";
import { summary } from "#/api/transactions";
import { Months } from "#/charts/Months";
import { firstDay, lastDay, localDay, monthAbbr, monthName, monthOf, shift } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { useKeys } from "#/lib/keys";
import { compact } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { Stepper } from "#/parts/Stepper";
import { Top } from "#/parts/Top";
import { useMoney } from "#/ui/Amount";
import { Bones, Card } from "#/ui/Card";
import { each } from "#/ui/Guard";
import { stale } from "#/ui/Page";
import { Against } from "./Against";
import { Balances } from "./Balances";
import { mainCurrency, openedOn, thirteen } from "./figures";
import { Needs } from "./Needs";
import css from "./OverviewPage.module.css";
import { ThisMonth } from "./ThisMonth";
import { WentTo } from "./WentTo";

/** At the end of the page, so its script comes after the rest. */
const Lately = lazy(() => import("./Lately").then((m) => ({ default: m.Lately })));
const Welcome = lazy(() => import("./Welcome").then((m) => ({ default: m.Welcome })));

/** The month so far, what needs attention, and where the money went. */
const step = "month";

export function OverviewPage() {
  const go = useNavigate({ from: "/" });
  const asked = useSearch({ from: "/" }).month;
  const { data, error, refetch } = useQuery(overview);
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  // The household's day is nearly always the browser's, so nothing waits for it.
  const today = data?.today ?? localDay(new Date());
  const newest = monthOf(today);
  const opened = openedOn(today, data?.data.last_date);
  const month = asked ?? opened;
  // One call has the days of all thirteen months, and of the chosen one with the one before it.
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
      <Top title={t`Overview`}>
        <Stepper
          name={monthName(month)}
          short={`${monthAbbr(month)} ${month.slice(0, 4)}`}
          what={step}
          last={month === newest}
          onBack={() => choose(shift(month, -1))}
          onOn={() => choose(shift(month, 1))}
        />
      </Top>
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
                <Bones tall />
                <Bones tall />
              </Card>
            </div>
            <div className={css.narrow}>
              <Card>
                <Bones rows={5} />
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
                    <Months
                      months={thirteen(days.data.groups, newest, currency)}
                      chosen={month}
                      onChoose={choose}
                      say={(c) => money(c, currency)}
                      axis={(c) => (hidden ? "" : compact(c, currency))}
                    />
                  </Card>
                  <Suspense fallback={<Bones rows={4} />}>
                    <Lately />
                  </Suspense>
                </>,
              )}
            </div>
            <div className={css.narrow}>
              {each(
                <>
                  <div className={css.second}>
                    {data ? <Needs overview={data} notes={flow.data.notes} /> : <Bones rows={4} />}
                  </div>
                  <div className={css.third}>
                    <Against
                      month={month}
                      today={today}
                      currency={currency}
                      flow={shown}
                      period={flow.data.period}
                      books={books}
                    />
                  </div>
                  {data && <Balances overview={data} />}
                </>,
              )}
            </div>
          </>
        )}
      </div>
    </>
  );
}
