import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { accountName, accounts } from "#/api/accounts";
import { proofs } from "#/api/networth";
import { dayShort } from "#/lib/dates";
import { cents } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { useMoney } from "#/ui/Amount";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";

const words = { proved: "Yes", gap: "No", open: "Cannot be told", none: "Not checked" } as const;
const moods = { proved: "in", gap: "warn", open: "plain", none: "plain" } as const;

/** Whether the payments of each account explain its balances; those that do not come first. */
export function AllBooks({ today }: { today: string }) {
  const money = useMoney();
  const list = useQuery(proofs);
  const names = useQuery(accounts).data;
  const order = ["gap", "open", "none", "proved"];
  const day = (d: string) => dayShort(d, today);
  return (
    <Card title="Do the books add up?" flush>
      {list.error && <Fault error={list.error} what="The proof" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={3} />}
      <Lines label="Books">
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
                    ? `${p.gaps === 1 ? "One gap" : `${p.gaps} gaps`}, the largest of ${money(size < 0n ? -size : size, p.iso_currency_code)}`
                    : p.proved_from && p.proved_until
                      ? `The payments explain every balance from ${day(p.proved_from)} to ${day(p.proved_until)}`
                      : p.status === "open"
                        ? "Too few balances were stated, or too many that fit nothing"
                        : "Nobody stated a balance, or payments do not explain the value"
                }
                open={(name) => (
                  <Link to="/accounts/$id" params={{ id: p.account_id }} search={{}}>
                    {name}
                  </Link>
                )}
                end={<Badge mood={moods[p.status]}>{words[p.status]}</Badge>}
              />
            );
          })}
      </Lines>
    </Card>
  );
}
