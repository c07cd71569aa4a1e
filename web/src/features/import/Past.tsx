import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { accountName, accounts } from "#/api/accounts";
import { imports } from "#/api/changes";
import { connections, importLogs } from "#/api/connections";
import { moment } from "#/lib/dates";
import { authorOfChange } from "#/parts/author";
import { EmptyBank, emptied } from "#/parts/EmptyBank";
import { undo } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { importSummary } from "./words";

/** Past imports, each of which can be undone. */
export function Past({ writes }: { writes: boolean }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(imports);
  const logs = useQuery(importLogs).data?.sync_logs;
  const empty = useQuery(connections).data?.filter((b) => emptied(b) && b.last_sync_at) ?? [];
  const named = new Map(useQuery(accounts).data?.map((a) => [a.id, accountName(a)]));
  return (
    <Card title={t`Past imports`} flush>
      {error && <Fault error={error} what={t`past imports`} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={3} />}
      {writes && empty.map((b) => <EmptyBank key={b.id} bank={b} />)}
      <Lines label={t`Past imports`}>
        {data?.changes.length === 0 && (
          <Item name={t`No imports yet`} hint={t`Your imports appear here. You can undo any of them.`} />
        )}
        {data?.changes.map((c) => {
          const log = logs?.find((l) => l.change_id === c.id);
          const title = importSummary(c, log?.file_name, named.get(log?.account_id ?? ""));
          return (
            <Item
              key={c.id}
              mark={<AuthorBadge author={authorOfChange(c)} large />}
              name={<bdi>{title}</bdi>}
              hint={moment(c.created_at)}
              end={
                c.reverted_by ? (
                  <Badge>
                    <Trans>undone</Trans>
                  </Badge>
                ) : (
                  writes && (
                    <Button icon="undo" aria-label={t`Undo: ${title}`} onClick={() => void undo(client, [c.id])}>
                      <Trans>Undo</Trans>
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
