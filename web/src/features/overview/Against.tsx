import { Link } from "@tanstack/react-router";
import type { Cashflow, CashflowCurrency } from "#/api/cashflow";
import { firstDay, lastDay, monthOf, monthWord, shift } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { abs, cents, rounded } from "#/lib/money";
import { lookOf } from "#/lib/tones";
import { nodeName, searchOf } from "#/parts/flow";
import { Ranked } from "#/parts/Ranked";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";

const shown = 8;

/** What each category cost beside the month before, like for like while the month still runs. */
export function Against(p: {
  month: string;
  today: string;
  currency: string;
  flow?: CashflowCurrency;
  period: Cashflow["period"];
}) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const days = { from: firstDay(p.month), to: lastDay(p.month) };
  const until = p.period.previous?.end_date ?? "";
  const spent = (p.flow?.nodes ?? []).filter((n) => n.kind === "category");
  return (
    <Card
      title={`Against ${monthWord(shift(p.month, -1))}`}
      aside={
        <>
          {monthOf(p.today) === p.month && until && <span>to day {Number(until.slice(8))} · </span>}
          <Link className="link" to="/cash-flow" search={{ at: p.month }}>
            All {spent.length}
          </Link>
        </>
      }
    >
      {spent.length === 0 && <p className="dim">Nothing was spent yet.</p>}
      <Ranked
        currency={p.currency}
        ranks={spent.slice(0, shown).map((n) => ({
          id: n.id,
          name: nodeName(n),
          look: lookOf(n.category, null),
          amount: cents(n.amount),
          before: cents(n.previous ?? 0),
          search: { ...days, ...searchOf(n.id, new Map()) },
        }))}
        change={(now, before) => {
          const d = now - before;
          return d === 0n
            ? "same"
            : `${d > 0n ? "+" : "−"}${hidden ? money(d, p.currency) : rounded(abs(d), p.currency)}`;
        }}
      />
    </Card>
  );
}
