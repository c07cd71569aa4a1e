import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import { owed } from "#/api/accounts";
import type { Overview } from "#/api/overview";
import { cents } from "#/lib/money";
import { Figure, Sum } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Freshness } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";
import { largest } from "./figures";

const shown = 7;

/** Net worth by currency, and the accounts behind it. Accounts without a balance are named. */
export function Balances({ overview: o }: { overview: Overview }) {
  const unknown = o.accounts.filter((a) => a.balance_today === null);
  const known = largest(o.accounts.filter((a) => a.balance_today !== null));
  const names = unknown.map((a) => a.name).join(", ");
  const [main, ...others] = o.balances;
  return (
    <Card
      title={t`Net worth`}
      flush
      aside={
        <Link className="link" to="/net-worth" search={{}}>
          <Trans>View history</Trans>
        </Link>
      }
      foot={
        unknown.length > 0 && (
          <Freshness old>
            <span>
              <Trans>
                Doesn’t include <bdi>{names}</bdi> (no balance)
              </Trans>
            </span>
          </Freshness>
        )
      }
    >
      <Lines>
        {main && (
          <Item
            name={<Figure value={cents(main.net)} currency={main.iso_currency_code} size="middle" />}
            hint={
              <Trans>
                <Sum value={cents(main.assets)} currency={main.iso_currency_code} /> assets ·{" "}
                <Sum value={cents(main.debts)} currency={main.iso_currency_code} /> debts
              </Trans>
            }
          />
        )}
        {others.map((b) => (
          <Item
            key={b.iso_currency_code}
            name={t`Net worth in ${{ currency: b.iso_currency_code }}`}
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
        {known.length > shown && (
          <Item
            name={plural(o.accounts.length, { one: "View # account", other: "View all # accounts" })}
            open={(name) => (
              <Link to="/accounts" search={{}}>
                {name}
              </Link>
            )}
            end={<Icon name="chev" small />}
          />
        )}
      </Lines>
    </Card>
  );
}
