import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { syncLogs } from "#/api/connections";
import { since } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { outcomeOf, triggerOf } from "./words";

/** The results of a bank's latest syncs. */
export function SyncLog({ bank }: { bank: string }) {
  const { data, error, refetch } = useQuery(syncLogs(bank));
  return (
    <Card title={t`Recent syncs`} flush>
      {error && <Fault error={error} what={t`recent syncs`} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={4} />}
      {data && data.sync_logs.length === 0 && <Lines>{<Item name={t`No syncs yet`} />}</Lines>}
      <Lines label={t`Syncs, newest first`}>
        {data?.sync_logs.map((l) => (
          <Item
            key={l.id}
            name={outcomeOf(l)}
            hint={`${triggerOf(l)} · ${since(l.started_at)}`}
            end={
              l.status === "error" && (
                <Badge mood="warn">
                  <Trans>failed</Trans>
                </Badge>
              )
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
