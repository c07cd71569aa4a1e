import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lately } from "#/api/changes";
import { moment } from "#/lib/dates";
import { undo } from "#/parts/edit";
import { actorOf } from "#/parts/maker";
import { useCan } from "#/parts/rights";
import { useTold } from "#/parts/useTold";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";
import { Seal } from "#/ui/Seal";

const few = 50; // what touched more is looked at before it is undone

/** The last things that were done, by anyone, each with its way back. */
export function Lately() {
  const client = useQueryClient();
  const { data } = useQuery(lately);
  const may = useCan().write;
  const done = (data?.changes ?? []).filter((c) => !c.reverts && !c.reverted_by).slice(0, 4);
  const tell = useTold(done);
  return (
    <Card
      title="Done lately"
      flush
      aside={
        <Link className="link" to="/activity" search={{}}>
          Activity
        </Link>
      }
    >
      {!data && <Bones rows={3} />}
      <Lines>
        {data && done.length === 0 && <Item name="Nothing was changed yet" />}
        {done.map((c) => (
          <Item
            key={c.id}
            mark={<Seal maker={actorOf(c)} large />}
            name={<bdi>{tell(c)}</bdi>}
            hint={moment(c.created_at)}
            end={
              may &&
              (c.entries > few ? (
                <Link className="link" to="/activity" search={{}}>
                  See what
                </Link>
              ) : (
                <Button icon="undo" aria-label={`Undo: ${tell(c)}`} onClick={() => void undo(client, [c.id])}>
                  Undo
                </Button>
              ))
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
