import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Group, summary } from "#/api/transactions";
import { Pace } from "#/charts/Pace";
import { daysIn, firstDay, lastDay, monthOf, monthWord, shift } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { abs, compact } from "#/lib/money";
import { Figure, useMoney } from "#/ui/Amount";
import { Bones, Card } from "#/ui/Card";
import { Icon } from "#/ui/Icon";
import { pace, sumsOf } from "./figures";
import css from "./OverviewPage.module.css";

/** What came in and went out this month, and how that compares with the month before on the same day. */
export function ThisMonth(p: { month: string; today: string; currency: string; months: Group[] }) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const before = shift(p.month, -1);
  const days = useQuery(summary({ group_by: ["day"], start_date: firstDay(before), end_date: lastDay(p.month) }));
  const running = monthOf(p.today) === p.month;
  const day = running ? Number(p.today.slice(8)) : daysIn(p.month);
  const [main, ...others] = sumsOf(p.months, p.month, p.currency);
  const now = pace(days.data?.groups ?? [], p.month, p.currency, day);
  const then = pace(days.data?.groups ?? [], before, p.currency, 31);
  const less = (then[Math.min(day, then.length) - 1] ?? 0n) - (now.at(-1) ?? 0n);
  const rows = { from: firstDay(p.month), to: lastDay(p.month) };
  const net = (main?.in ?? 0n) - (main?.out ?? 0n);
  return (
    <Card
      title={running ? "This month" : monthWord(p.month)}
      aside={running ? `Day ${day} of ${daysIn(p.month)}` : undefined}
    >
      <div className={css.figures}>
        <div className={css.big}>
          <span className={css.label}>{running ? "Left so far" : "Left"}</span>
          <Figure value={net} currency={p.currency} size="large" />
          {days.data && less !== 0n && (
            <span className={less > 0n ? css.good : css.look}>
              <Icon name={less > 0n ? "dn" : "up"} small />
              {money(abs(less), p.currency)} {less > 0n ? "less" : "more"} spent than in {monthWord(before)}
              {running ? " by this day" : ""}
            </span>
          )}
        </div>
        <Link className={css.figure} to="/transactions" search={{ ...rows, direction: "in" }}>
          <span className={css.label}>In</span>
          <Figure value={main?.in ?? 0n} currency={p.currency} size="small" />
        </Link>
        <Link className={css.figure} to="/transactions" search={{ ...rows, direction: "out" }}>
          <span className={css.label}>Out</span>
          <Figure value={main?.out ?? 0n} currency={p.currency} size="small" />
          <span className="small faint">{main?.count ?? 0} payments</span>
        </Link>
        {others.map((o) => (
          <Link key={o.currency} className={css.figure} to="/transactions" search={rows}>
            <span className={css.label}>Also in {o.currency}</span>
            <Figure value={o.in - o.out} currency={o.currency} size="small" />
            <span className="small faint">{o.count} payments</span>
          </Link>
        ))}
      </div>
      {days.data ? (
        <Pace
          now={{ name: monthWord(p.month), sums: now }}
          before={{ name: monthWord(before), sums: then.slice(0, daysIn(before)) }}
          say={(c) => money(c, p.currency)}
          axis={(c) => (hidden ? "" : compact(c, p.currency))}
        />
      ) : (
        <Bones tall />
      )}
    </Card>
  );
}
