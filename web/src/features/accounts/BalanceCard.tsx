import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { lazy, type ReactNode, Suspense } from "react";
import { type Account, type DailyBalance, owed } from "#/api/accounts";
import { Balance } from "#/charts/Balance";
import { offs, spans as split } from "#/charts/spans";
import { dayShort, localDay } from "#/lib/dates";
import { cents, compact } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { enteredManually } from "#/lib/provider";
import { Figure, useMoney } from "#/ui/Amount";
import { Card, Skeleton } from "#/ui/Card";
import { Freshness } from "#/ui/Chip";
import { Note } from "#/ui/Form";
import css from "./Accounts.module.css";
import { AskBank } from "./AskBank";
import { staleBalance, statedBy } from "./balanceCheck";

const SetBalance = lazy(() => import("./SetBalance").then((m) => ({ default: m.SetBalance })));

const limit = 3; // notes of one kind that are shown

/** The balance of an account, its source, and a chart of it by day. */
export function BalanceCard(p: {
  account: Account | undefined;
  days: readonly DailyBalance[] | undefined;
  may: boolean;
  /** Whether its bank supports requests for the current balance. */
  asks: boolean;
  /** The choice of the period. `fault` is the error if the balances did not load. */
  aside: ReactNode;
  fault: ReactNode;
}) {
  const a = p.account;
  const debt = a !== undefined && owed(a.type);
  const today = localDay(new Date());
  return (
    <Card title={debt ? t`Amount owed` : t`Balance`} aside={p.aside}>
      {!a && <Skeleton tall />}
      {a && (
        <>
          <div className="row wrap">
            {a.balance_today === null ? (
              <p className="dim">
                {enteredManually(a)
                  ? t`No balance yet. Enter one to include this account in your net worth.`
                  : t`No balance yet. It may arrive with the next sync or a statement that has a balance column.`}
              </p>
            ) : (
              <>
                <Figure
                  value={debt ? -cents(a.balance_today) : cents(a.balance_today)}
                  currency={a.iso_currency_code}
                  size="large"
                />
                <Freshness old={staleBalance(a, today)}>{statedBy(a, today)}</Freshness>
              </>
            )}
            {p.may && (
              <span className="end row wrap">
                {p.asks && <AskBank account={a} />}
                <Suspense>
                  <SetBalance account={a} />
                </Suspense>
              </span>
            )}
          </div>
          {p.fault}
          {!p.days && !p.fault && <Skeleton tall />}
          {p.days && <Line account={a} days={p.days} today={today} />}
        </>
      )}
    </Card>
  );
}

/** The chart of the balance, with an explanation of each style in which a part of the line is drawn. */
function Line({ account: a, days, today }: { account: Account; days: readonly DailyBalance[]; today: string }) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const debt = owed(a.type);
  const points = days.flatMap((d) =>
    d.current === null
      ? []
      : [
          {
            day: d.day,
            value: debt ? -cents(d.current) : cents(d.current),
            derived: d.source === "derived",
            off: d.gap,
          },
        ],
  );
  if (points.length < 2)
    return a.balance_today === null ? null : (
      <p className="dim">
        <Trans>The chart starts once there are two balances.</Trans>
      </p>
    );
  const ends = (g: { from: { day: string }; to: { day: string } }) =>
    [dayShort(g.from.day, today), dayShort(g.to.day, today)] as const;
  const unknown = (from: string, to: string) =>
    t`No balance data between ${from} and ${to}. The dashed line just connects the known days.`;
  const off = (from: string, to: string) =>
    t`The balance doesn’t match the transactions between ${from} and ${to}. Hatched days are calculated back from the next balance.`;
  const explained = a.balance_method === "transactions";
  return (
    <>
      <Balance
        points={points}
        today={today}
        say={(c) => money(c, a.iso_currency_code)}
        axis={(c) => (hidden ? "" : compact(c, a.iso_currency_code))}
        derived={explained ? t`calculated` : t`last value`}
      />
      {points.some((k) => k.derived) && (
        <p className={`${css.legend} small dim`}>
          {explained
            ? t`Solid: reported by the bank, a statement or a person. Dotted: calculated from transactions.`
            : t`Solid: reported by the bank, a statement or a person. Dotted: last reported value.`}
        </p>
      )}
      {split(points)
        .gaps.slice(-limit)
        .map((g) => (
          <Note key={g.from.day} mood="warn">
            <span className="grow">{unknown(...ends(g))}</span>
          </Note>
        ))}
      {offs(points)
        .slice(-limit)
        .map((g) => (
          <Note key={`off ${g.from.day}`} mood="warn">
            <span className="grow">{off(...ends(g))}</span>
          </Note>
        ))}
    </>
  );
}
