import { t } from "@lingui/core/macro";
import { Plural } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Cashflow, CashflowCurrency } from "#/api/cashflow";
import { countOf, type Group } from "#/api/transactions";
import { Pace } from "#/charts/Pace";
import { daysIn, firstDay, lastDay, monthOf, monthWord, shift } from "#/lib/dates";
import { abs, cents, compact } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { transactions } from "#/lib/words";
import { type Books, nothingIn, reaches, showMonth } from "#/parts/empty";
import { Figures, Than } from "#/parts/Figures";
import { Notes } from "#/parts/Notes";
import { useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
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
  books: Books;
  onChoose: (month: string) => void;
};

/** Whether the month is better or worse than the one before. A current month is compared up to the same day. */
function compared(amount: string, month: string, better: boolean, running: boolean): string {
  if (running)
    return better ? t`${amount} better than ${month} at this point` : t`${amount} worse than ${month} at this point`;
  return better ? t`${amount} better than ${month}` : t`${amount} worse than ${month}`;
}

/** The month's money in and money out, compared with the month before. */
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
  // If the first transaction is after the first week of the month before, that month lacks data. Then nothing is
  // compared with it.
  const known = reaches(p.books, firstDay(before));
  const ahead = known ? cents(s?.change?.net ?? 0) : 0n;
  const moved = [s, ...p.others].some((o) => o && o.count > 0);
  const now = pace(p.days, p.month, p.currency, day);
  const then = known ? pace(p.days, before, p.currency, 31) : [];
  const none = nothingIn({ ...rows, name: monthWord(p.month) }, p.books);
  return (
    <Card
      title={running ? t`This month` : monthWord(p.month)}
      aside={running ? t`Day ${day} of ${{ days: daysIn(p.month) }}` : undefined}
    >
      <Figures
        main={{
          name: running ? t`Net so far` : t`Net`,
          value: cents(s?.net ?? 0),
          currency: p.currency,
          search: rows,
          hint: ahead !== 0n && (
            <Than good={ahead > 0n}>
              <Icon name={ahead > 0n ? "up" : "dn"} small />
              {compared(money(abs(ahead), p.currency), monthWord(before), ahead > 0n, running)}
            </Than>
          ),
        }}
        others={[
          {
            name: t`Money in`,
            value: cents(s?.money_in ?? 0),
            currency: p.currency,
            search: { ...rows, direction: "in" },
          },
          {
            name: t`Money out`,
            value: cents(s?.money_out ?? 0),
            currency: p.currency,
            search: { ...rows, direction: "out" },
            hint: transactions(s?.count ?? 0),
          },
          ...p.others.map((o) => ({
            name: t`Net in ${{ currency: o.iso_currency_code }}`,
            value: cents(o.net),
            currency: o.iso_currency_code,
            search: rows,
            hint: transactions(o.count),
          })),
        ]}
      />
      {left > 0 && (
        <p className="small dim">
          <Plural
            value={left}
            one="Excludes # transaction that is a transfer, a duplicate or in a hidden account."
            other="Excludes # transactions that are transfers, duplicates or in hidden accounts."
          />{" "}
          <Link className="link" to="/transactions" search={rows}>
            <Plural value={listed} one="View #" other="View all #" />
          </Link>
        </p>
      )}
      {!moved && none.month && (
        <p className="small dim phone">
          {none.words}{" "}
          <Button kind="quiet" onClick={() => p.onChoose(none.month ?? p.month)}>
            {showMonth(none.month)}
          </Button>
        </p>
      )}
      <Notes notes={p.notes.filter((n) => n.code === "links_proposed")} />
      {[...now, ...then].some((c) => c > 0n) && (
        <Pace
          now={{ name: monthWord(p.month), sums: now }}
          before={{ name: monthWord(before), sums: then }}
          days={daysIn(p.month)}
          say={(c) => money(c, p.currency)}
          axis={(c) => (hidden ? "" : compact(c, p.currency))}
        />
      )}
    </Card>
  );
}
