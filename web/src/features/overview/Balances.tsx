import { Link } from "@tanstack/react-router";
import { owed } from "#/api/accounts";
import type { Overview } from "#/api/overview";
import { cents } from "#/lib/money";
import { Figure, Sum } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Fresh } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";

const shown = 7;

/** What is owned and owed, by currency, and the accounts behind it. Those without a balance are named. */
export function Balances({ overview: o }: { overview: Overview }) {
  const unknown = o.accounts.filter((a) => a.balance_today === null);
  const known = o.accounts.filter((a) => a.balance_today !== null);
  const [main, ...others] = o.balances;
  return (
    <Card
      title="Owned in all"
      flush
      aside={
        <Link className="link" to="/net-worth" search={{}}>
          Over time
        </Link>
      }
      foot={
        unknown.length > 0 && (
          <Fresh old>
            <span>
              Without <bdi>{unknown.map((a) => a.name).join(", ")}</bdi>, whose balance is unknown
            </span>
          </Fresh>
        )
      }
    >
      <Lines>
        {main && (
          <Item
            name={<Figure value={cents(main.net)} currency={main.iso_currency_code} size="middle" />}
            hint={
              <>
                owned <Sum value={cents(main.assets)} currency={main.iso_currency_code} />, owed{" "}
                <Sum value={cents(main.debts)} currency={main.iso_currency_code} />
              </>
            }
          />
        )}
        {others.map((b) => (
          <Item
            key={b.iso_currency_code}
            name={`In ${b.iso_currency_code}`}
            end={<Sum value={cents(b.net)} currency={b.iso_currency_code} />}
          />
        ))}
        {known.slice(0, shown).map((a) => (
          <Item
            key={a.id}
            name={<bdi>{a.name}</bdi>}
            open={(name) => (
              <Link to="/accounts/$id" params={{ id: a.short_id }} search={{}}>
                {name}
              </Link>
            )}
            end={
              <Sum
                value={owed(a.type) ? -cents(a.balance_today ?? 0) : cents(a.balance_today ?? 0)}
                currency={a.iso_currency_code}
              />
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
