import { plural, t } from "@lingui/core/macro";
import type { ReactNode } from "react";
import type { Cents } from "#/lib/money";
import { transactions } from "#/lib/words";
import { useMoney } from "#/ui/Amount";
import type { SumIn } from "./added";
import css from "./Sums.module.css";

/** The sum in one currency, in words: money out, money in, and the net if there are both. */
export function useSumWords() {
  const money = useMoney();
  const net = (n: Cents, currency: string) => `${n > 0n ? "+" : ""}${money(n, currency)}`;
  return (s: SumIn) => [
    ...(s.out > 0n ? [{ kind: t`Money out`, value: money(s.out, s.currency), mood: "out" as const }] : []),
    ...(s.in > 0n ? [{ kind: t`Money in`, value: `+${money(s.in, s.currency)}`, mood: "in" as const }] : []),
    ...(s.out > 0n && s.in > 0n ? [{ kind: t`Net`, value: net(s.in - s.out, s.currency), mood: "net" as const }] : []),
  ];
}

type Props = {
  count: number;
  /**
   * How many of the transactions are left out of totals. The sums include these only if no other transactions match.
   */
  uncounted: number;
  sums: SumIn[];
  children?: ReactNode;
};

/** How many transactions match, and their sums, one line for each currency. */
export function SumLine({ count, uncounted, sums, children }: Props) {
  const words = useSumWords();
  return (
    <section className={css.line} aria-label={t`Matching transactions`}>
      <p>
        <strong className={css.count}>{transactions(count)}</strong>
        {uncounted > 0 && (
          <span title={t`Transfers, duplicates, excluded transactions and hidden accounts`}>
            {" · "}
            {uncounted === count
              ? t`not counted in totals`
              : plural(uncounted, { one: "# not counted in totals", other: "# not counted in totals" })}
          </span>
        )}
      </p>
      <div className={css.sums}>
        {sums.map((s) => (
          <p key={s.currency} data-sum={s.currency}>
            {words(s).map((w) => (
              <span key={w.mood}>
                {w.kind} <b className={w.mood === "in" ? css.in : undefined}>{w.value}</b>
              </span>
            ))}
          </p>
        ))}
      </div>
      <div className={css.acts}>{children}</div>
    </section>
  );
}
