import { i18n } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type AppliedPlan, applyPlan, dropPlan, type PlanPage, plan } from "#/api/plans";
import type { Run } from "#/api/workflows";
import { cents } from "#/lib/money";
import { number } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { undo } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { planned } from "#/parts/plans";
import { useCan } from "#/parts/rights";
import { useAction } from "#/parts/useAction";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Fold, Lines, Table } from "#/ui/Lines";
import { toasts } from "#/ui/toasts";
import { PlanLine } from "./PlanLine";
import { appliedOf, approvedBy, isApproval } from "./planned";

const touches = ["workflows", "transactions", "review", "overview", "rules", "changes", "categories", "tags"];

const titles = {
  waiting: msg`Proposed changes`,
  applied: msg`Applied changes`,
  dropped: msg`Discarded changes`,
} as const;

/** The changes that a run proposes, before → after. A person applies all or some of them, or discards them. */
export function Plan({ run: r }: { run: Run }) {
  const can = useCan();
  const list = useInfiniteQuery(plan(r.id));
  const [out, leaveOut] = useState<ReadonlySet<number>>(new Set());
  const [asks, ask] = useState(false);
  const [done, setDone] = useState<AppliedPlan | null>(null);
  const client = useQueryClient();
  const apply = useAction({
    act: async () => {
      const a = await applyPlan(r.id, [...out]);
      const ids = [...a.change_ids].reverse();
      const text = a.state === "dropped" ? t`No changes were left to apply` : t`Changes applied`;
      toasts.say({ text, undo: ids.length ? () => void undo(client, ids) : undefined });
      return a;
    },
    touches,
  });
  const drop = useAction({ act: () => dropPlan(r.id), touches, text: t`Changes discarded` });
  const state = list.data?.pages[0]?.state ?? r.plan.state;
  if (state === "none") return null;
  const first = list.data?.pages[0];
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  const total = first ? first.entries + first.calls : 0;
  const chosen = total - out.size;
  const open = state === "waiting" && can.write;
  const toggle = (seq: number) => {
    const next = new Set(out);
    if (!next.delete(seq)) next.add(seq);
    leaveOut(next);
  };
  return (
    <Card
      title={i18n._(titles[state])}
      aside={planned(r.plan)}
      flush
      warn={state === "waiting"}
      foot={
        open &&
        first && (
          <>
            <Button
              kind="filled"
              disabled={apply.isPending || drop.isPending || chosen === 0}
              onClick={() => apply.mutate(undefined, { onSuccess: setDone })}
            >
              {out.size
                ? plural({ chosen }, { one: `Apply # of ${total}`, other: `Apply # of ${total}` })
                : plural({ total }, { one: "Apply #", other: "Apply all #" })}
            </Button>
            <Button kind="quiet" disabled={apply.isPending || drop.isPending} onClick={() => ask(true)}>
              <Trans>Discard</Trans>
            </Button>
          </>
        )
      }
    >
      {list.error && <Fault error={list.error} what={t`proposed changes`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={5} />}
      {done && <Note mood={done.skipped.length ? "warn" : "good"}>{appliedOf(done)}</Note>}
      {first && first.totals.length > 0 && <Totals totals={first.totals} />}
      <Lines label={t`Proposed changes`}>
        {items.map((i) => (
          <PlanLine
            key={`${i.subject} ${i.seq}`}
            item={i}
            onToggle={open ? () => toggle(i.seq) : undefined}
            out={out.has(i.seq)}
            approves={state === "waiting" && isApproval(i) ? approvedBy(i, items, out) : undefined}
            skipped={done?.skipped.find((s) => s.seq === i.seq)?.reason}
          />
        ))}
      </Lines>
      {list.hasNextPage && (
        <Button kind="quiet" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          <Trans>Load more</Trans>
        </Button>
      )}
      <FormDialog
        open={asks}
        onClose={() => ask(false)}
        title={t`Discard proposed changes?`}
        hint={t`Nothing will be changed, and you can’t apply them later. The transcript is kept.`}
        act={t`Discard`}
        fault
        busy={drop.isPending}
        onSubmit={() => drop.mutate(undefined, { onSettled: () => ask(false) })}
      />
    </Card>
  );
}

/** The proposed changes by category. */
function Totals({ totals }: { totals: PlanPage["totals"] }) {
  const { name } = useCategories();
  return (
    <Fold name={t`By category`}>
      <Table
        label={t`Changes by category`}
        heads={[t`Amount`, t`Category`, t`Transactions`]}
        num={[0, 2]}
        rows={totals.map((sum) => ({
          key: `${sum.category} ${sum.iso_currency_code}`,
          cells: [
            <Amount key="amount" value={cents(sum.amount)} currency={sum.iso_currency_code} />,
            sum.category ? name(sum.category) : t`Uncategorized`,
            number(sum.transactions),
          ],
        }))}
      />
    </Fold>
  );
}
