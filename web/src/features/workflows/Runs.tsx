import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Run, runsOf } from "#/api/workflows";
import { moment } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { Cost } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { limitOf, moodOf, planOf, some, statusOf, took } from "./words";

const began = { manual: "started by", schedule: "by its schedule", after_sync: "after a sync", eval: "to measure it" };

const beganBy = (r: Run) => (r.trigger === "manual" ? `started by ${r.asked_by}` : began[r.trigger]);

/** What a run came to, in one line. */
function came(r: Run): string {
  const plan = planOf(r.plan.state);
  return [
    `${moment(r.created_at)}, ${beganBy(r)}`,
    r.started_at ? `${some(r.turns, "turn")} in ${took(r.started_at, r.finished_at)}` : "",
    r.changes.length ? some(r.changes.length, "change") : "",
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
    <Card title="Runs" flush>
      {list.error && <Fault error={list.error} what="The runs" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={4} />}
      <Lines label="Runs, newest first">
        {list.data && all.length === 0 && (
          <Item name="It has not run yet" hint="Its runs, with all that was said, will be here." />
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
                <Badge mood="warn">Plan waits</Badge>
              ) : (
                <Badge mood={moodOf(r.status)}>{statusOf(r.status)}</Badge>
              )
            }
          />
        ))}
      </Lines>
      {list.hasNextPage && (
        <Button kind="quiet" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Load older ones
        </Button>
      )}
    </Card>
  );
}
