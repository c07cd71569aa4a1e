import { useQuery } from "@tanstack/react-query";
import { webhooks } from "#/api/settings";
import { moment } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { Bones, Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";

const states = {
  received: ["Arrived", "plain"],
  processed: ["Read", "in"],
  error: ["Failed", "bad"],
} as const;

/** What bank services last told by themselves. */
export function Webhooks() {
  const list = useQuery(webhooks);
  const all = list.data?.webhook_events ?? [];
  return (
    <Card title="News from bank services" aside={list.data && list.data.total > 5 && `5 of ${list.data.total}`} flush>
      {list.error && <Fault error={list.error} what="The news" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={2} />}
      <Lines label="News from bank services">
        {list.data && all.length === 0 && (
          <Item
            name="Nothing has come yet"
            hint="Without it, new payments come with the next scheduled read. A server that cannot be reached from outside gets none."
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
                <Badge mood={states[e.status][1]}>{states[e.status][0]}</Badge>
              </>
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
