import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { createTarget, type Target } from "#/api/targets";
import { table } from "#/api/transactions";
import { firstDay, lastDay, shift } from "#/lib/dates";
import { text } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useAction } from "#/parts/useAction";
import { useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { touches } from "./TargetForm";
import { type Proposal, proposals } from "./words";

/** Suggested budgets for the largest categories, based on the last three months. One press adds a budget. */
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
  const set = useAction({
    act: (p: Proposal) =>
      createTarget({ category: p.category, amount: Number(text(p.amount)), iso_currency_code: p.currency }),
    touches,
    text: (_, p) => t`${{ category: name(p.category) }} budget added`,
    change: (r) => r.change,
  });
  const list = proposals(query.data?.pivot, kind, have);
  if (list.length === 0) return null;
  return (
    <Card title={t`Suggested budgets`} aside={t`Slightly above your 3-month average`} flush>
      <Lines label={t`Suggested budgets`}>
        {list.map((p) => (
          <Item
            key={p.category + p.currency}
            mark={<Tile {...look(p.category)} />}
            name={name(p.category)}
            hint={t`${{ amount: money(p.amount, p.currency) }} per month`}
            end={
              <Button
                disabled={set.isPending}
                aria-label={t`Add budget for ${{ category: name(p.category) }}`}
                onClick={() => set.mutate(p)}
              >
                <Trans>Add</Trans>
              </Button>
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
