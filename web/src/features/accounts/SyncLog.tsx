import { useQuery } from "@tanstack/react-query";
import { syncLogs } from "#/api/connections";
import { since } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { outcomeOf, triggerOf } from "./words";

/** What each of the last syncs did. */
export function SyncLog({ bank }: { bank: string }) {
  const { data, error, refetch } = useQuery(syncLogs(bank));
  return (
    <Card title="Lately" flush>
      {error && <Fault error={error} what="The log" retry={() => void refetch()} />}
      {!data && !error && <Bones rows={4} />}
      {data && data.sync_logs.length === 0 && <Lines>{<Item name="Nothing was fetched yet" />}</Lines>}
      <Lines label="Syncs, newest first">
        {data?.sync_logs.map((l) => (
          <Item
            key={l.id}
            name={outcomeOf(l)}
            hint={`Fetched ${triggerOf(l)} · ${since(l.started_at)}`}
            end={l.status === "error" && <Badge mood="warn">failed</Badge>}
          />
        ))}
      </Lines>
    </Card>
  );
}
