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
import { Stepper } from "#/parts/Stepper";
import { Top } from "#/parts/Top";
import { Sum, useMoney } from "#/ui/Amount";
import { Bones, Card, Empty } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Calendar } from "./Calendar";
import { DayList } from "./DayList";
import { daysOf, daysUntil, lowest, monthsAhead, sums } from "./days";
import css from "./UpcomingPage.module.css";

/** What will probably be paid: a calendar of the recurring payments, and how low accounts will be. */
export function UpcomingPage() {
  const go = useNavigate({ from: "/upcoming" });
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const now = monthOf(today);
  const last = shift(now, monthsAhead);
  const asked = useSearch({ from: "/upcoming" }).month ?? now;
  const month = asked < now ? now : asked > last ? last : asked;
  const { data, error, refetch } = useQuery(upcoming(daysUntil(month, today)));
  const choose = (m: string) => void go({ search: { month: m === now ? undefined : m }, resetScroll: false });
  useKeys({
    "[": () => month !== now && choose(shift(month, -1)),
    "]": () => month !== last && choose(shift(month, 1)),
  });
  const days = daysOf(data?.days ?? [], month);
  return (
    <>
      <Top title="Upcoming">
        <Stepper
          name={monthName(month)}
          short={`${monthAbbr(month)} ${month.slice(0, 4)}`}
          what="month"
          first={month === now}
          last={month === last}
          onBack={() => choose(shift(month, -1))}
          onOn={() => choose(shift(month, 1))}
        />
      </Top>
      <Page aside={data && data.accounts.length > 0 && <Ahead rows={data.accounts} month={month} today={today} />}>
        {error && <Fault error={error} what="What is expected" retry={() => void refetch()} />}
        <Notes notes={data?.notes} />
        {!data && !error && (
          <Card>
            <Bones rows={6} />
          </Card>
        )}
        {data?.days.length === 0 && (
          <Card>
            <Empty
              title={`Nothing is expected until ${dayShort(lastDay(month), today)}`}
              action={
                <Link className="link" to="/recurring">
                  Look at the recurring payments
                </Link>
              }
            >
              What comes back regularly stands here on its days, such as rent, subscriptions and wages. coffer finds it
              after each sync and import.
            </Empty>
          </Card>
        )}
        {data && data.days.length > 0 && (
          <Card title={monthName(month)} aside={<Sums days={days} />} flush>
            <Calendar month={month} today={today} days={days} />
            <DayList today={today} days={days} />
            {days.length === 0 && <p className={`phone dim ${css.none}`}>Nothing is expected in {monthName(month)}.</p>}
          </Card>
        )}
      </Page>
    </>
  );
}

/** What a month comes to, a currency at a time. */
function Sums({ days }: { days: Parameters<typeof sums>[0] }) {
  const money = useMoney();
  const all = sums(days);
  const said = (purse: ReadonlyMap<string, bigint>) =>
    [...purse].map(([currency, n]) => money(n, currency)).join(" and ") || "nothing";
  return (
    <>
      {said(all.out)} out, {said(all.in)} in
    </>
  );
}

/** How low each account will be until the end of the month. */
function Ahead({ rows, month, today }: { rows: readonly UpcomingAccount[]; month: string; today: string }) {
  const known = useQuery(accounts).data ?? [];
  const money = useMoney();
  return (
    <Card title={`Accounts until ${dayShort(lastDay(month), today)}`} flush>
      <Lines label="How low accounts will be">
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
