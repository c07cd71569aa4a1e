import { Link } from "@tanstack/react-router";
import type { CashflowCurrency } from "#/api/cashflow";
import { fold } from "#/charts/flow";
import { Sankey } from "#/charts/Sankey";
import { firstDay, lastDay, monthWord } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { type Cents, cents, rounded } from "#/lib/money";
import { lookOf } from "#/lib/tones";
import { flowOf, useWay } from "#/parts/flow";
import { useMoney } from "#/ui/Amount";
import { Card, Empty } from "#/ui/Card";

/** The month's money as ribbons: who paid, and what it was spent on. */
export function WentTo({ month, flow, currency }: { month: string; flow?: CashflowCurrency; currency: string }) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const brief = (c: Cents) => (hidden ? "••••" : rounded(c, currency));
  const way = useWay({ from: firstDay(month), to: lastDay(month) });
  const drawn =
    flow &&
    fold(
      flowOf(flow, (s) => lookOf(s, null).tone),
      { in: 5, out: 8 },
    );
  return (
    <Card
      title="Where it went"
      aside={
        <>
          Choose a ribbon to see its payments ·{" "}
          <Link className="link" to="/cash-flow" search={{ at: month }}>
            Cash flow
          </Link>
        </>
      }
    >
      {drawn && flow ? (
        <Sankey
          flow={drawn}
          hub={`In ${brief(cents(flow.money_in))}`}
          say={(c) => money(c, currency)}
          brief={brief}
          way={way}
        />
      ) : (
        <Empty title="Nothing yet">No money has moved in {monthWord(month)}.</Empty>
      )}
    </Card>
  );
}
