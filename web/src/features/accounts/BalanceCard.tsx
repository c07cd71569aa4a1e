import type { ReactNode } from "react";
import { type Account, type DailyBalance, owed } from "#/api/accounts";
import { Balance } from "#/charts/Balance";
import { offs, spans as split } from "#/charts/spans";
import { dayShort, localDay } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { cents, compact } from "#/lib/money";
import { Figure, useMoney } from "#/ui/Amount";
import { Bones, Card } from "#/ui/Card";
import { Fresh } from "#/ui/Chip";
import { Note } from "#/ui/Form";
import css from "./Accounts.module.css";
import { AskBank } from "./AskBank";
import { staleBalance, statedBy } from "./proved";
import { SetBalance } from "./SetBalance";

const most = 3; // notes of a kind

/** What an account stands at, who said so, and how it came there day by day. */
export function BalanceCard(p: {
  account: Account | undefined;
  days: readonly DailyBalance[] | undefined;
  may: boolean;
  /** Whether its bank can be asked for a balance. */
  asks: boolean;
  /** How far back it is shown, and what stands there if that could not be loaded. */
  aside: ReactNode;
  fault: ReactNode;
}) {
  const a = p.account;
  const debt = a !== undefined && owed(a.type);
  const today = localDay(new Date());
  return (
    <Card title={debt ? "Owed" : "Balance"} aside={p.aside}>
      {!a && <Bones tall />}
      {a && (
        <>
          <div className="row wrap">
            {a.balance_today === null ? (
              <p className="dim">
                {a.provider === "manual"
                  ? "Nobody has stated a balance yet. Set what it stands at, and it counts in what you own."
                  : "Nobody has stated a balance. The bank may with the next sync, and so does a statement that has a column for it."}
              </p>
            ) : (
              <>
                <Figure
                  value={debt ? -cents(a.balance_today) : cents(a.balance_today)}
                  currency={a.iso_currency_code}
                  size="large"
                />
                <Fresh old={staleBalance(a, today)}>{statedBy(a, today)}</Fresh>
              </>
            )}
            {p.may && (
              <span className="end row wrap">
                {p.asks && <AskBank account={a} />}
                <SetBalance account={a} />
              </span>
            )}
          </div>
          {p.fault}
          {!p.days && !p.fault && <Bones tall />}
          {p.days && <Line account={a} days={p.days} today={today} />}
        </>
      )}
    </Card>
  );
}

/** The balance as a line, with words for all that is drawn in another way. */
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
    return a.balance_today === null ? null : <p className="dim">The line begins once two days are known.</p>;
  const between = (g: { from: { day: string }; to: { day: string } }) =>
    `between ${dayShort(g.from.day, today)} and ${dayShort(g.to.day, today)}`;
  const explained = a.balance_method === "transactions";
  return (
    <>
      <Balance
        points={points}
        today={today}
        say={(c) => money(c, a.iso_currency_code)}
        axis={(c) => (hidden ? "" : compact(c, a.iso_currency_code))}
        derived={explained ? "reckoned" : "as before"}
      />
      {points.some((k) => k.derived) && (
        <p className={`${css.legend} small dim`}>
          {explained
            ? "Solid: stated by the bank, a statement or a person. Dotted: reckoned from the payments."
            : "Solid: stated by the bank, a statement or a person. Dotted: the last stated value, until the next."}
        </p>
      )}
      {split(points)
        .gaps.slice(-most)
        .map((g) => (
          <Note key={g.from.day} mood="warn">
            <span className="grow">
              No balance is known {between(g)}. The dashed grey line only joins the two known days.
            </span>
          </Note>
        ))}
      {offs(points)
        .slice(-most)
        .map((g) => (
          <Note key={`off ${g.from.day}`} mood="warn">
            <span className="grow">
              The balance does not add up {between(g)}: the payments do not explain how it moved. The hatched days
              follow from the balance after them.
            </span>
          </Note>
        ))}
    </>
  );
}
