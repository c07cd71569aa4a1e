import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Account } from "#/api/accounts";
import { newest, payee } from "#/api/transactions";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { outWord } from "#/parts/pairs";
import { Amount } from "#/ui/Amount";
import { Card, Skeleton } from "#/ui/Card";
import { Badge, Tile } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";

const few = 8;

/** The newest transactions of an account, and a link to all of them. */
export function Latest({ account: a }: { account: Account }) {
  const { data } = useQuery(newest({ account_id: [a.id] }, few));
  const { look } = useCategories();
  const today = localDay(new Date());
  return (
    <Card
      title={t`Recent transactions`}
      flush
      aside={
        <Link className="link" to="/transactions" search={{ account: a.short_id }}>
          <Trans>View all</Trans>
        </Link>
      }
    >
      {!data && <Skeleton rows={4} />}
      {data && data.transactions.length === 0 && <Lines>{<Item name={t`No transactions yet`} />}</Lines>}
      <Lines>
        {data?.transactions.map((r) => (
          <Item
            key={r.id}
            mark={<Tile {...look(r.category)} />}
            name={<bdi>{payee(r)}</bdi>}
            hint={`${dayShort(r.date, today)} · ${r.category_display_name ?? t`Uncategorized`}`}
            open={(name) => (
              <Link to="/transactions" search={{ account: a.short_id, open: r.short_id }}>
                {name}
              </Link>
            )}
            end={
              <>
                {outWord(r) && <Badge>{outWord(r)}</Badge>}
                <Amount value={cents(r.amount)} currency={r.iso_currency_code} quiet={r.pending} />
              </>
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
