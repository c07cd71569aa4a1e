import { plural, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import type { Recurring } from "#/api/recurring";
import { upcoming } from "#/api/upcoming";
import { lastDay, monthOf, monthWord, ordinal } from "#/lib/dates";
import { cents } from "#/lib/money";
import { number } from "#/lib/words";
import { Figure, useMoney } from "#/ui/Amount";
import { Stats } from "#/ui/Stats";
import css from "./RecurringPage.module.css";
import { monthly, priceChanges, yearly } from "./words";

type Group = { group: Recurring["group"]; rows: readonly Recurring[] };

/** Costs and income per month, and the payments that are still due this month, in one strip for each currency. */
export function Strip({ groups, today }: { groups: readonly Group[]; today: string }) {
  const money = useMoney();
  const rows = (...of: Recurring["group"][]) => groups.filter((g) => of.includes(g.group)).flatMap((g) => g.rows);
  const [costs, income] = [rows("subscription", "bill", "loan"), rows("income")];
  const days = ordinal(lastDay(monthOf(today))) - ordinal(today) + 1;
  const ahead = useQuery(upcoming(days)).data;
  const currencies = [...new Set([...costs, ...income].map((r) => r.iso_currency_code))];
  return currencies.map((currency) => {
    const one = (list: readonly Recurring[]) => list.filter((r) => r.iso_currency_code === currency);
    const due = ahead?.totals.find((x) => x.iso_currency_code === currency);
    const items =
      ahead?.days.flatMap((d) =>
        d.items.filter((i) => i.iso_currency_code === currency && !i.transfer && i.amount > 0),
      ) ?? [];
    const priceChange = priceChanges(one(costs), today);
    const earned = monthly(one(income)).get(currency) ?? 0n;
    return (
      <Stats
        key={currency}
        label={t`Recurring in ${{ currency }}`}
        cells={[
          {
            name: t`Bills and subscriptions`,
            value: <Figure value={monthly(one(costs)).get(currency) ?? 0n} currency={currency} size="large" />,
            hint: t`per month · ${{ amount: money(yearly(one(costs)).get(currency) ?? 0n, currency) }} per year`,
          },
          {
            name: t`Income`,
            value: (
              <span className={css.in}>
                <Figure value={earned} currency={currency} size="small" />
              </span>
            ),
            hint: t`per month`,
          },
          {
            name: t`Still due in ${{ month: monthWord(monthOf(today)) }}`,
            value: <Figure value={cents(due?.money_out ?? 0)} currency={currency} size="small" />,
            hint: plural({ count: items.length }, { one: "# payment", other: "# payments" }),
          },
          {
            name: t`Price changes`,
            value: <span className={css.count}>{number(priceChange.count)}</span>,
            hint:
              priceChange.count === 0
                ? t`in the last 90 days`
                : priceChange.by < 0n
                  ? t`${{ amount: money(-priceChange.by, currency) }} less per year`
                  : t`${{ amount: money(priceChange.by, currency) }} more per year`,
          },
        ]}
      />
    );
  });
}
