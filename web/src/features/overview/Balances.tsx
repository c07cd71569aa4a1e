import { Link } from "@tanstack/react-router";
import type { Overview } from "#/api/overview";
import { cents } from "#/lib/money";
import { Figure, Sum } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import css from "./OverviewPage.module.css";

const shown = 7;

/** What is owned and owed, by currency, and the accounts behind it. An unknown balance says so. */
export function Balances({ overview: o }: { overview: Overview }) {
  const unknown = o.accounts.filter((a) => a.balance_current === null).length;
  const owed = (type: string) => type === "credit" || type === "loan";
  const [main, ...others] = o.balances;
  return (
    <Card title="Balances" aside={unknown ? <Badge mood="warn">{unknown} unknown</Badge> : undefined}>
      {main && (
        <>
          <Figure value={cents(main.net)} currency={main.iso_currency_code} size="middle" />
          <p className="small dim">
            owned <Sum value={cents(main.assets)} currency={main.iso_currency_code} />, owed{" "}
            <Sum value={cents(main.debts)} currency={main.iso_currency_code} />
          </p>
        </>
      )}
      <ul className={css.accounts}>
        {others.map((b) => (
          <li key={b.iso_currency_code}>
            <span>In {b.iso_currency_code}</span>
            <Sum value={cents(b.net)} currency={b.iso_currency_code} />
          </li>
        ))}
        {o.accounts.slice(0, shown).map((a) => (
          <li key={a.id}>
            <Link className="cut" to="/transactions" search={{ account: a.short_id }}>
              <bdi>{a.name}</bdi>
            </Link>
            {a.balance_current === null ? (
              <span className="dim">unknown</span>
            ) : (
              <Sum
                value={owed(a.type) ? -cents(a.balance_current) : cents(a.balance_current)}
                currency={a.iso_currency_code}
              />
            )}
          </li>
        ))}
      </ul>
      {o.accounts.length > shown && <p className="small faint">and {o.accounts.length - shown} more accounts</p>}
    </Card>
  );
}
