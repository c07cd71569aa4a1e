import { t } from "@lingui/core/macro";
import type { TargetTotal } from "#/api/targets";
import { cents } from "#/lib/money";
import { percent } from "#/lib/words";
import { Figure, useMoney } from "#/ui/Amount";
import { Stats } from "#/ui/Stats";
import { share } from "./words";

/** The sum of all budgets in a currency, and the income of the month. */
export function Totals({ total: x }: { total: TargetTotal }) {
  const money = useMoney();
  const currency = x.iso_currency_code;
  const say = (n: number) => money(cents(n), currency);
  const figure = (value: bigint, size: "large" | "small" = "small") => (
    <Figure value={value} currency={currency} size={size} />
  );
  const due = cents(x.due);
  const coming = cents(x.income_due);
  const rest = cents(x.income) + coming - cents(x.amount);
  return (
    <Stats
      label={t`All budgets in ${{ currency }}`}
      cells={[
        {
          name: t`Left to spend`,
          value: figure(cents(x.left), "large"),
          hint: due > 0n ? t`after ${{ amount: say(x.due) }} still due` : t`in all budgets`,
        },
        {
          name: t`Budget`,
          value: figure(cents(x.amount)),
          hint: cents(x.fixed) > 0n ? t`${{ amount: say(x.fixed) }} fixed costs` : t`this month`,
        },
        {
          name: t`Spending`,
          value: figure(cents(x.spent)),
          hint: t`${{ percent: percent(share(cents(x.spent), cents(x.amount))) }} of budget`,
        },
        {
          name: t`Income`,
          value: figure(cents(x.income)),
          hint: coming > 0n ? t`${{ amount: say(x.income_due) }} still expected` : t`received this month`,
        },
        {
          name: t`Income − budget`,
          value: figure(rest),
          hint:
            rest < 0n
              ? t`more budgeted than earned`
              : coming > 0n
                ? t`left to save, with expected income`
                : t`left to save`,
        },
      ]}
    />
  );
}
