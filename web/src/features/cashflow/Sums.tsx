import type { CashflowCurrency } from "#/api/cashflow";
import { abs, type Cents, cents } from "#/lib/money";
import { Figures } from "#/parts/Figures";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";

/** Left, in and out, each beside what it was before. */
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
    return d === 0n ? "the same as before" : `${money(abs(d), currency)} ${d > 0n ? "more" : "less"}`;
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
    <Card title={p.running ? "So far" : "In all"} aside={p.before && `beside ${p.before}`}>
      <Figures
        main={one(p.running ? "Left so far" : "Left", s.net, s.previous?.net)}
        others={[
          one("In", s.money_in, s.previous?.money_in, "in"),
          one("Out", s.money_out, s.previous?.money_out, "out"),
        ]}
      />
    </Card>
  );
}
