import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Cashflow, CashflowCurrency } from "#/api/cashflow";
import { countOf, type Group } from "#/api/transactions";
import { Pace } from "#/charts/Pace";
import { daysIn, firstDay, lastDay, monthOf, monthWord, shift } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { abs, cents, compact } from "#/lib/money";
import { payments } from "#/lib/words";
import { Figures, Than } from "#/parts/Figures";
import { Notes } from "#/parts/Notes";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Icon } from "#/ui/Icon";
import { pace } from "./figures";

type Props = {
  month: string;
  today: string;
  currency: string;
  sums?: CashflowCurrency;
  others: CashflowCurrency[];
  days: Group[];
  notes: Cashflow["notes"];
};

/** What came in and went out this month, and how that compares with the month before on the same day. */
export function ThisMonth(p: Props) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const before = shift(p.month, -1);
  const running = monthOf(p.today) === p.month;
  const day = running ? Number(p.today.slice(8)) : daysIn(p.month);
  const rows = { from: firstDay(p.month), to: lastDay(p.month) };
  const s = p.sums;
  const listed = useQuery(countOf({ start_date: rows.from, end_date: rows.to })).data?.count ?? 0;
  const left = listed - [s, ...p.others].reduce((n, o) => n + (o?.count ?? 0), 0);
  const ahead = cents(s?.change?.net ?? 0);
  return (
    <Card
      title={running ? "This month" : monthWord(p.month)}
      aside={running ? `Day ${day} of ${daysIn(p.month)}` : undefined}
    >
      <Figures
        main={{
          name: running ? "Left so far" : "Left",
          value: cents(s?.net ?? 0),
          currency: p.currency,
          search: rows,
          hint: ahead !== 0n && (
            <Than good={ahead > 0n}>
              <Icon name={ahead > 0n ? "up" : "dn"} small />
              {money(abs(ahead), p.currency)} {ahead > 0n ? "ahead of" : "behind"} {monthWord(before)}
              {running ? " at this day" : ""}
            </Than>
          ),
        }}
        others={[
          {
            name: "In",
            value: cents(s?.money_in ?? 0),
            currency: p.currency,
            search: { ...rows, direction: "in" },
          },
          {
            name: "Out",
            value: cents(s?.money_out ?? 0),
            currency: p.currency,
            search: { ...rows, direction: "out" },
            hint: `${payments(s?.count ?? 0)} in all`,
          },
          ...p.others.map((o) => ({
            name: `Also in ${o.iso_currency_code}`,
            value: cents(o.net),
            currency: o.iso_currency_code,
            search: rows,
            hint: payments(o.count),
          })),
        ]}
      />
      {left > 0 && (
        <p className="small dim">
          Not counted: {payments(left)} between own accounts, mirrored or in hidden accounts.{" "}
          <Link className="link" to="/transactions" search={rows}>
            See all {listed.toLocaleString("en")}
          </Link>
        </p>
      )}
      <Notes notes={p.notes.filter((n) => n.code === "links_proposed")} />
      <Pace
        now={{ name: monthWord(p.month), sums: pace(p.days, p.month, p.currency, day) }}
        before={{ name: monthWord(before), sums: pace(p.days, before, p.currency, 31) }}
        say={(c) => money(c, p.currency)}
        axis={(c) => (hidden ? "" : compact(c, p.currency))}
      />
    </Card>
  );
}
