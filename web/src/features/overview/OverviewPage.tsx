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
import { Against } from "./Against";
import { Balances } from "./Balances";
import { mainCurrency, thirteen } from "./figures";
import { Lately } from "./Lately";
import { Needs } from "./Needs";
import css from "./OverviewPage.module.css";
import { ThisMonth } from "./ThisMonth";
import { WentTo } from "./WentTo";

const Welcome = lazy(() => import("./Welcome").then((m) => ({ default: m.Welcome })));

/** How the month goes, what waits, and where the money went. */
export function OverviewPage() {
  const go = useNavigate({ from: "/" });
  const asked = useSearch({ from: "/" }).month;
  const { data, error, refetch } = useQuery(overview);
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  // The household's day is nearly always the browser's, so nothing waits for it.
  const today = data?.today ?? localDay(new Date());
  const newest = monthOf(today);
  const month = asked ?? newest;
  // One call has the days of all thirteen months, and of the chosen one with the one before it.
  const first = shift(newest, -12) < shift(month, -1) ? shift(newest, -12) : shift(month, -1);
  const days = useQuery(summary({ group_by: ["day"], start_date: firstDay(first), end_date: lastDay(newest) }));
  const flow = useQuery(
    cashflow({ start_date: firstDay(month), end_date: lastDay(month), compare: "previous_period" }),
  );
  const choose = (m: string) => void go({ search: { month: m === newest ? undefined : m }, resetScroll: false });
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
  const currency = mainCurrency(days.data?.groups ?? []) ?? data?.balances[0]?.iso_currency_code ?? "EUR";
  const shown = flow.data?.currencies.find((c) => c.iso_currency_code === currency);
  const others = (flow.data?.currencies ?? []).filter((c) => c !== shown);
  return (
    <>
      <Top title="Overview">
        <Stepper
          name={monthName(month)}
          short={`${monthAbbr(month)} ${month.slice(0, 4)}`}
          what="month"
          last={month === newest}
          onBack={() => choose(shift(month, -1))}
          onOn={() => choose(shift(month, 1))}
        />
      </Top>
      <div className={css.page}>
        {trouble && (
          <Fault
            error={trouble}
            what="The overview"
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
              <div className={css.first}>
                <ThisMonth
                  month={month}
                  today={today}
                  currency={currency}
                  sums={shown}
                  others={others}
                  days={days.data.groups}
                  notes={flow.data.notes}
                />
              </div>
              <div className="desk">
                <WentTo month={month} flow={shown} currency={currency} />
              </div>
              <Card
                title="Thirteen months"
                aside={
                  <span className={css.legend}>
                    <i className={css.in} /> in, above <i className={css.out} /> out, below <i className={css.left} />{" "}
                    left
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
              <Lately />
            </div>
            <div className={css.narrow}>
              <div className={css.second}>
                {data ? <Needs overview={data} notes={flow.data.notes} /> : <Bones rows={4} />}
              </div>
              <div className={css.third}>
                <Against month={month} today={today} currency={currency} flow={shown} period={flow.data.period} />
              </div>
              {data && <Balances overview={data} />}
            </div>
          </>
        )}
      </div>
    </>
  );
}
