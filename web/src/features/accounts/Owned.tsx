import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type Account, accountName, owed } from "#/api/accounts";
import { type Cents, cents } from "#/lib/money";
import { Figure, Sum } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Fresh } from "#/ui/Chip";
import { Fields } from "#/ui/Form";
import { Facts } from "#/ui/Page";

type Side = { currency: string; owned: Cents; owed: Cents; count: number };

/** Assets and debts by currency, the one with most accounts first. */
export function sides(accounts: Account[]): Side[] {
  const by = new Map<string, Side>();
  for (const a of accounts) {
    if (a.balance_today === null) continue;
    const s = by.get(a.iso_currency_code) ?? { currency: a.iso_currency_code, owned: 0n, owed: 0n, count: 0 };
    if (owed(a.type)) s.owed += cents(a.balance_today);
    else s.owned += cents(a.balance_today);
    s.count++;
    by.set(a.iso_currency_code, s);
  }
  return [...by.values()].sort((a, b) => b.count - a.count);
}

/** The net worth, and which accounts it leaves out because they have no balance. */
export function Owned({ accounts }: { accounts: Account[] }) {
  const [main, ...others] = sides(accounts);
  const unknown = accounts.filter((a) => a.balance_today === null);
  const names = unknown.map(accountName).join(", ");
  if (!main) return null;
  return (
    <Card title={t`Net worth`}>
      <Fields>
        <Figure value={main.owned - main.owed} currency={main.currency} size="middle" />
        <Facts
          facts={[
            [t`Assets`, <Sum key="a" value={main.owned} currency={main.currency} />],
            [t`Debts`, <Sum key="b" value={main.owed} currency={main.currency} />],
            ...others.map(
              (o) =>
                [
                  t`Net worth in ${{ currency: o.currency }}`,
                  <Sum key={o.currency} value={o.owned - o.owed} currency={o.currency} />,
                ] as const,
            ),
          ]}
        />
        {unknown.length > 0 && (
          <Fresh old>
            <span>
              <Trans>
                Doesn’t include <bdi>{names}</bdi> (no balance)
              </Trans>
            </span>
          </Fresh>
        )}
      </Fields>
    </Card>
  );
}
