import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type Account, accountName } from "#/api/accounts";
import { overview } from "#/api/overview";
import { cents } from "#/lib/money";
import { Figure, Sum } from "#/ui/Amount";
import { Card } from "#/ui/Card";
import { Freshness } from "#/ui/Chip";
import { Fields } from "#/ui/Form";
import { Facts } from "#/ui/Page";

/**
 * The same net worth as on the overview, in which duplicate accounts count once. Accounts without a balance are left
 * out and named.
 */
export function Owned({ accounts }: { accounts: Account[] }) {
  const [main, ...others] = useQuery(overview).data?.balances ?? [];
  const unknown = accounts.filter((a) => a.balance_today === null);
  const names = unknown.map(accountName).join(", ");
  if (!main) return null;
  return (
    <Card title={t`Net worth`}>
      <Fields>
        <Figure value={cents(main.net)} currency={main.iso_currency_code} size="middle" />
        <Facts
          facts={[
            [t`Assets`, <Sum key="a" value={cents(main.assets)} currency={main.iso_currency_code} />],
            [t`Debts`, <Sum key="b" value={cents(main.debts)} currency={main.iso_currency_code} />],
            ...others.map(
              (o) =>
                [
                  t`Net worth in ${{ currency: o.iso_currency_code }}`,
                  <Sum key={o.iso_currency_code} value={cents(o.net)} currency={o.iso_currency_code} />,
                ] as const,
            ),
          ]}
        />
        {unknown.length > 0 && (
          <Freshness old>
            <span>
              <Trans>
                Doesn’t include <bdi>{names}</bdi> (no balance)
              </Trans>
            </span>
          </Freshness>
        )}
      </Fields>
    </Card>
  );
}
