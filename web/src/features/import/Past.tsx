import { useQuery, useQueryClient } from "@tanstack/react-query";
import { accountName, accounts } from "#/api/accounts";
import { imports } from "#/api/changes";
import { connections, importLogs } from "#/api/connections";
import { moment } from "#/lib/dates";
import { EmptyBank, emptied } from "#/parts/EmptyBank";
import { undo } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { actorOf } from "#/parts/maker";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { Seal } from "#/ui/Seal";
import { importedAs } from "./words";

/** What files brought before, each with its way back. */
export function Past({ writes }: { writes: boolean }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(imports);
  const logs = useQuery(importLogs).data?.sync_logs;
  const empty = useQuery(connections).data?.filter((b) => emptied(b) && b.last_sync_at) ?? [];
  const named = new Map(useQuery(accounts).data?.map((a) => [a.id, accountName(a)]));
  return (
    <Card title="Past imports" flush>
      {error && <Fault error={error} what="Past imports" retry={() => void refetch()} />}
      {!data && !error && <Bones rows={3} />}
      {writes && empty.map((b) => <EmptyBank key={b.id} bank={b} />)}
      <Lines label="Past imports">
        {data?.changes.length === 0 && (
          <Item name="No file was imported yet" hint="What files bring is listed here, and can be undone" />
        )}
        {data?.changes.map((c) => {
          const log = logs?.find((l) => l.change_id === c.id);
          const title = importedAs(c.summary, log?.file_name, named.get(log?.account_id ?? ""));
          return (
            <Item
              key={c.id}
              mark={<Seal maker={actorOf(c)} large />}
              name={<bdi>{title}</bdi>}
              hint={`${c.actor_name}, ${moment(c.created_at)}`}
              end={
                c.reverted_by ? (
                  <Badge>undone</Badge>
                ) : (
                  writes && (
                    <Button icon="undo" aria-label={`Undo: ${title}`} onClick={() => void undo(client, [c.id])}>
                      Undo
                    </Button>
                  )
                )
              }
            />
          );
        })}
      </Lines>
    </Card>
  );
}
