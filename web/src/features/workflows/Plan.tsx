import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type AppliedPlan, applyPlan, dropPlan, type PlanPage, plan } from "#/api/plans";
import type { Run } from "#/api/workflows";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useDeed } from "#/parts/deed";
import { undo } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { useCan } from "#/parts/rights";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Fold, Lines, Table } from "#/ui/Lines";
import { toasts } from "#/ui/toasts";
import { PlanLine } from "./PlanLine";
import { appliedOf } from "./planned";
import { planned } from "./words";

const touches = ["workflows", "transactions", "review", "overview", "rules", "changes", "categories", "tags"];

const titles = {
  waiting: "What it would change, if you apply it",
  applied: "Its plan, which was applied",
  dropped: "Its plan, which was dropped",
} as const;

/** What a run planned, each field before → after. A person applies it, leaves parts of it out, or drops it. */
export function Plan({ run: r }: { run: Run }) {
  const can = useCan();
  const list = useInfiniteQuery(plan(r.id));
  const [out, leaveOut] = useState<ReadonlySet<number>>(new Set());
  const [asks, ask] = useState(false);
  const [done, setDone] = useState<AppliedPlan | null>(null);
  const client = useQueryClient();
  const apply = useDeed({
    act: async () => {
      const a = await applyPlan(r.id, [...out]);
      const ids = [...a.change_ids].reverse();
      toasts.say({ text: "The plan is applied", undo: ids.length ? () => void undo(client, ids) : undefined });
      return a;
    },
    touches,
  });
  const drop = useDeed({ act: () => dropPlan(r.id), touches, said: "The plan is dropped" });
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
      title={titles[state]}
      aside={state === "waiting" ? undefined : planned(r.plan)}
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
              {out.size ? `Apply ${chosen} of ${total}` : `Apply all ${total}`}
            </Button>
            <Button kind="quiet" disabled={apply.isPending || drop.isPending} onClick={() => ask(true)}>
              Drop the plan
            </Button>
          </>
        )
      }
    >
      {list.error && <Fault error={list.error} what="The plan" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={5} />}
      {done && <Note mood={done.skipped.length ? "warn" : "good"}>{appliedOf(done)}</Note>}
      {first && first.totals.length > 0 && <Totals totals={first.totals} />}
      <Lines label="The plan">
        {items.map((i) => (
          <PlanLine
            key={`${i.subject} ${i.seq}`}
            item={i}
            onToggle={open ? () => toggle(i.seq) : undefined}
            out={out.has(i.seq)}
            skipped={done?.skipped.find((s) => s.seq === i.seq)?.reason}
          />
        ))}
      </Lines>
      {list.hasNextPage && (
        <Button kind="quiet" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more of the plan
        </Button>
      )}
      <FormDialog
        open={asks}
        onClose={() => ask(false)}
        title="Drop this plan?"
        hint="Nothing of it is changed, and it cannot be applied any more. Its transcript stays."
        act="Drop plan"
        fault
        busy={drop.isPending}
        onSubmit={() => drop.mutate(undefined, { onSettled: () => ask(false) })}
      />
    </Card>
  );
}

/** What the plan would file, by category. */
function Totals({ totals }: { totals: PlanPage["totals"] }) {
  const { name } = useCategories();
  return (
    <Fold name="By category">
      <Table
        label="What it would file, by category"
        heads={["Amount", "Category", "Payments"]}
        num={[0, 2]}
        rows={totals.map((t) => ({
          key: `${t.category} ${t.iso_currency_code}`,
          cells: [
            <Amount key="amount" value={cents(t.amount)} currency={t.iso_currency_code} />,
            t.category ? name(t.category) : "No category",
            t.transactions.toLocaleString("en"),
          ],
        }))}
      />
    </Fold>
  );
}
