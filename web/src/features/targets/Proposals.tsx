import { useQuery } from "@tanstack/react-query";
import { createTarget, type Target } from "#/api/targets";
import { table } from "#/api/transactions";
import { firstDay, lastDay, shift } from "#/lib/dates";
import { text } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useDeed } from "#/parts/deed";
import { useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { touches } from "./TargetForm";
import { type Proposal, proposals } from "./words";

/** What the largest categories cost on average in the last three months, as targets that one press sets. */
export function Proposals({ now, have }: { now: string; have: readonly Target[] }) {
  const money = useMoney();
  const { look, name, kind } = useCategories();
  const query = useQuery(
    table({
      group_by: ["primary_category", "month"],
      pivot: true,
      measure: "out",
      start_date: firstDay(shift(now, -3)),
      end_date: lastDay(shift(now, -1)),
      limit: 50,
    }),
  );
  const set = useDeed({
    act: (p: Proposal) =>
      createTarget({ category: p.category, amount: Number(text(p.amount)), iso_currency_code: p.currency }),
    touches,
    said: (_, p) => `Target for ${name(p.category)} set`,
    change: (r) => r.change,
  });
  const list = proposals(query.data?.pivot, kind, have);
  if (list.length === 0) return null;
  return (
    <Card title="Proposed" aside="a little above the average of the last three months" flush>
      <Lines label="Proposed targets">
        {list.map((p) => (
          <Item
            key={p.category + p.currency}
            mark={<Tile {...look(p.category)} />}
            name={name(p.category)}
            hint={`${money(p.amount, p.currency)} a month`}
            end={
              <Button
                disabled={set.isPending}
                aria-label={`Set the target for ${name(p.category)}`}
                onClick={() => set.mutate(p)}
              >
                Set
              </Button>
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
