import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Run, runsOf } from "#/api/workflows";
import { moment } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { changes } from "#/parts/plans";
import { Cost } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { limitOf, moodOf, planOf, statusOf, took, turns } from "./words";

const began = { schedule: msg`scheduled`, after_sync: msg`after a sync`, eval: msg`accuracy test` } as const;

const beganBy = (r: Run) => (r.trigger === "manual" ? t`started by ${{ name: r.asked_by }}` : i18n._(began[r.trigger]));

/** The result of a run, in one line. */
function came(r: Run): string {
  const plan = planOf(r.plan.state);
  return [
    moment(r.created_at),
    beganBy(r),
    ...(r.started_at ? [turns(r.turns), took(r.started_at, r.finished_at)] : []),
    r.changes.length ? changes(r.changes.length) : "",
    plan ?? "",
    limitOf(r.limit, r.limits)?.replace(/\.$/, "") ?? r.error?.message ?? "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The runs of a workflow, newest first. */
export function Runs({ slug }: { slug: string }) {
  const list = useInfiniteQuery(runsOf(slug));
  const all = list.data?.pages.flatMap((p) => p.runs) ?? [];
  return (
    <Card title={t({ message: "Runs", context: "of a workflow" })} flush>
      {list.error && <Fault error={list.error} what={t`runs`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={4} />}
      <Lines label={t`Runs, newest first`}>
        {list.data && all.length === 0 && (
          <Item name={t`No runs yet`} hint={t`Runs and their transcripts appear here.`} />
        )}
        {all.map((r) => (
          <Item
            key={r.id}
            name={
              <>
                <Cost usd={r.cost_usd} /> · {statusOf(r.status)}
              </>
            }
            hint={came(r)}
            open={(name) => (
              <Link to="/runs/$id" params={{ id: r.short_id }}>
                {name}
              </Link>
            )}
            end={
              r.plan.state === "waiting" ? (
                <Badge mood="warn">{t`Needs approval`}</Badge>
              ) : (
                <Badge mood={moodOf(r.status)}>{statusOf(r.status)}</Badge>
              )
            }
          />
        ))}
      </Lines>
      {list.hasNextPage && (
        <Button kind="quiet" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          <Trans>Load more</Trans>
        </Button>
      )}
    </Card>
  );
}
