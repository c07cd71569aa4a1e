import { t } from "@lingui/core/macro";
import type { CashflowCurrency } from "#/api/cashflow";
import { abs, type Cents, cents } from "#/lib/money";
import { Figures } from "#/parts/Figures";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";

/** Net, money in and money out, each compared with the earlier period. */
export function Sums(p: {
  sums: CashflowCurrency;
  days: { from: string; to: string };
  before?: string;
  running: boolean;
}) {
  const money = useMoney();
  const currency = p.sums.iso_currency_code;
  const than = (now: Cents, then: number | undefined) => {
    if (then === undefined || !p.before) return undefined;
    const d = now - cents(then);
    if (d === 0n) return t`no change`;
    const amount = money(abs(d), currency);
    return d > 0n ? t`up ${amount}` : t`down ${amount}`;
  };
  const one = (name: string, now: number, then: number | undefined, direction?: "in" | "out") => ({
    name,
    value: cents(now),
    currency,
    hint: than(cents(now), then),
    search: { ...p.days, ...(direction && { direction }) },
  });
  const { sums: s } = p;
  return (
    <Card title={p.running ? t`So far` : t`Total`} aside={p.before && t`vs. ${{ period: p.before }}`}>
      <Figures
        main={one(p.running ? t`Net so far` : t`Net`, s.net, s.previous?.net)}
        others={[
          one(t`Money in`, s.money_in, s.previous?.money_in, "in"),
          one(t`Money out`, s.money_out, s.previous?.money_out, "out"),
        ]}
      />
    </Card>
  );
}
