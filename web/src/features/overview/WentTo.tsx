import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { CashflowCurrency } from "#/api/cashflow";
import { fold, moves } from "#/charts/flow";
import { Sankey } from "#/charts/Sankey";
import { firstDay, lastDay, monthWord } from "#/lib/dates";
import { type Cents, cents, rounded } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { useCategories } from "#/parts/categories";
import type { Books } from "#/parts/empty";
import { flowOf, middleOf, middleWord, refundsWord, useWay } from "#/parts/flow";
import { Nothing } from "#/parts/Nothing";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";

type Props = {
  month: string;
  flow?: CashflowCurrency;
  currency: string;
  books: Books;
  onChoose: (month: string) => void;
};

/** The month's money as a flow chart, from income to spending. */
export function WentTo({ month, flow, currency, books, onChoose }: Props) {
  const money = useMoney();
  const { look } = useCategories();
  const hidden = amounts.use() === "hidden";
  const brief = (c: Cents) => (hidden ? "••••" : rounded(c, currency));
  const way = useWay({ from: firstDay(month), to: lastDay(month) });
  const drawn =
    flow &&
    fold(
      flowOf(flow, (s) => look(s).tone),
      { in: 5, out: 8 },
    );
  const middle = drawn && middleOf(drawn, cents(flow.money_in));
  return (
    <Card
      title={t`Where your money went`}
      aside={
        <>
          {drawn && moves(drawn) && <span>{t`Select a flow to see its transactions`} · </span>}
          <Link className="link" to="/cash-flow" search={{ at: month }}>
            <Trans>Cash flow</Trans>
          </Link>
        </>
      }
    >
      {drawn && middle && moves(drawn) ? (
        <>
          <Sankey
            flow={drawn}
            hub={middleWord(middle, brief(middle.all))}
            say={(c) => money(c, currency)}
            brief={brief}
            way={way}
          />
          {middle.refunds > 0n && <p className="small dim">{refundsWord(money(middle.refunds, currency))}</p>}
        </>
      ) : (
        <Nothing
          days={{ from: firstDay(month), to: lastDay(month), name: monthWord(month) }}
          books={books}
          onChoose={onChoose}
        />
      )}
    </Card>
  );
}
