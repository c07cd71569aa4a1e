import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { webhooks } from "#/api/settings";
import { moment } from "#/lib/dates";
import { number } from "#/lib/words";
import { Fault } from "#/parts/Fault";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";

const states = {
  received: [msg`Received`, "plain"],
  processed: [msg`Processed`, "in"],
  error: [msg`Failed`, "bad"],
} as const;

/** The latest webhooks of bank providers. */
export function Webhooks() {
  const list = useQuery(webhooks);
  const all = list.data?.webhook_events ?? [];
  return (
    <Card
      title={t`Bank provider webhooks`}
      aside={list.data && list.data.total > 5 && t`5 of ${{ total: number(list.data.total) }}`}
      flush
    >
      {list.error && <Fault error={list.error} what={t`provider webhooks`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={2} />}
      <Lines label={t`Bank provider webhooks`}>
        {list.data && all.length === 0 && (
          <Item
            name={t`No webhooks received`}
            hint={t`Optional. Without webhooks, new transactions arrive with the next scheduled sync.`}
          />
        )}
        {all.map((e) => (
          <Item
            key={e.id}
            name={<bdi>{e.institution_name || e.provider}</bdi>}
            hint={e.error_message || e.event_type.replaceAll("_", " ").toLowerCase()}
            end={
              <>
                <span className="small dim">{moment(e.created_at)}</span>
                <Badge mood={states[e.status][1]}>{i18n._(states[e.status][0])}</Badge>
              </>
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
