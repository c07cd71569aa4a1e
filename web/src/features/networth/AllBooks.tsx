import { i18n } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { accountName, accounts } from "#/api/accounts";
import { proofs } from "#/api/networth";
import { dayShort } from "#/lib/dates";
import { abs, cents } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { useMoney } from "#/ui/Amount";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Fold, Item, Lines } from "#/ui/Lines";

const words = {
  proved: msg`Verified`,
  gap: msg`Mismatch`,
  open: msg`Not enough data`,
  none: msg`Not checked`,
} as const;
const moods = { proved: "in", gap: "warn", open: "plain", none: "plain" } as const;

/** Whether the transactions of each account match its balances; mismatches come first. */
export function AllBooks({ today }: { today: string }) {
  const money = useMoney();
  const list = useQuery(proofs);
  const names = useQuery(accounts).data;
  const order = ["gap", "open", "none", "proved"];
  const day = (d: string) => dayShort(d, today);
  return (
    <Card flush>
      <Fold name={t`Balance check`}>
        {list.error && <Fault error={list.error} what={t`the balance check`} retry={() => void list.refetch()} />}
        {!list.data && !list.error && <Skeleton rows={3} />}
        <Lines label={t`Accounts`}>
          {list.data
            ?.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status))
            .map((p) => {
              const a = names?.find((x) => x.id === p.account_id);
              const size = p.largest_difference === null ? null : cents(p.largest_difference);
              return (
                <Item
                  key={p.account_id}
                  name={<bdi>{a ? accountName(a) : "…"}</bdi>}
                  hint={
                    p.status === "gap" && size !== null
                      ? t`${plural({ gaps: p.gaps }, { one: "# mismatch", other: "# mismatches" })}, largest ${{ amount: money(abs(size), p.iso_currency_code) }}`
                      : p.proved_from && p.proved_until
                        ? t`Transactions match every balance from ${{ from: day(p.proved_from) }} to ${{ to: day(p.proved_until) }}`
                        : p.status === "open"
                          ? t`Not enough reliable balances to compare`
                          : t`No balance to compare, or the value doesn’t depend on transactions`
                  }
                  open={(name) => (
                    <Link to="/accounts/$id" params={{ id: p.account_id }} search={{}}>
                      {name}
                    </Link>
                  )}
                  end={<Badge mood={moods[p.status]}>{i18n._(words[p.status])}</Badge>}
                />
              );
            })}
        </Lines>
      </Fold>
    </Card>
  );
}
