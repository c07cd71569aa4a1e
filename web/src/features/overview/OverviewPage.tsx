import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { summary } from "#/api/transactions";
import { Months } from "#/charts/Months";
import { firstDay, lastDay, monthAbbr, monthName, monthOf, shift } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { useKeys } from "#/lib/keys";
import { compact } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { Top } from "#/parts/Top";
import { useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Balances } from "./Balances";
import { mainCurrency, thirteen } from "./figures";
import { Lately } from "./Lately";
import { Needs } from "./Needs";
import css from "./OverviewPage.module.css";
import { ThisMonth } from "./ThisMonth";
import { Against, WentTo } from "./WentTo";

export function OverviewPage() {
  const go = useNavigate({ from: "/" });
  const asked = useSearch({ from: "/" }).month;
  const { data, error, refetch } = useQuery(overview);
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const today = data?.today;
  const month = asked ?? (today ? monthOf(today) : undefined);
  const newest = today ? monthOf(today) : month;
  const months = useQuery({
    ...summary({
      group_by: ["month"],
      start_date: firstDay(shift(newest ?? "2000-01", -12)),
      end_date: lastDay(newest ?? "2000-01"),
    }),
    enabled: newest !== undefined,
  });
  const choose = (m: string) => void go({ search: { month: m === newest ? undefined : m }, resetScroll: false });
  useKeys({
    "[": () => month && choose(shift(month, -1)),
    "]": () => month && month !== newest && choose(shift(month, 1)),
  });
  const currency = mainCurrency(months.data?.groups ?? []);

  return (
    <>
      <Top title="Overview">
        {month && (
          <div className={css.period}>
            <Button
              kind="quiet"
              icon="back"
              aria-label="The month before"
              title="The month before ([)"
              onClick={() => choose(shift(month, -1))}
            />
            <span aria-live="polite">
              <span className="desk">{monthName(month)}</span>
              <span className="phone">
                {monthAbbr(month)} {month.slice(0, 4)}
              </span>
            </span>
            <Button
              kind="quiet"
              icon="chev"
              aria-label="The month after"
              title="The month after (])"
              disabled={month === newest}
              onClick={() => choose(shift(month, 1))}
            />
          </div>
        )}
      </Top>
      <div className={css.page}>
        {error && <Fault error={error} what="The overview" retry={() => void refetch()} />}
        {months.error && <Fault error={months.error} what="The months" retry={() => void months.refetch()} />}
        {!error && (!data || !months.data) && !months.error && (
          <>
            <div className={css.wide}>
              <Card>
                <Bones tall />
              </Card>
            </div>
            <div className={css.narrow}>
              <Card>
                <Bones rows={4} />
              </Card>
            </div>
          </>
        )}
        {data && months.data && !currency && (
          <div className={css.all}>
            <Card>
              <Empty title="Your books are empty, and only yours">
                Everything that you bring in stays on this machine. Link a bank or import a statement from the command
                line: coffer connection --help.
              </Empty>
            </Card>
          </div>
        )}
        {data && months.data && currency && month && (
          <>
            <div className={css.wide}>
              <div className={css.first}>
                <ThisMonth month={month} today={data.today} currency={currency} months={months.data.groups} />
              </div>
              <div className={css.desk}>
                <WentTo month={month} currency={currency} />
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
                  months={thirteen(months.data.groups, newest ?? month, currency)}
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
                <Needs overview={data} />
              </div>
              <div className={css.third}>
                <Against month={month} today={data.today} currency={currency} />
              </div>
              <Balances overview={data} />
            </div>
          </>
        )}
      </div>
    </>
  );
}
