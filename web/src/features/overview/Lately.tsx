import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
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

const few = 50; // a larger change is opened in Activity before it is undone

/** The latest changes by anyone, each with Undo. */
export function Lately() {
  const client = useQueryClient();
  const { data } = useQuery(lately);
  const may = useCan().write;
  const done = (data?.changes ?? []).filter((c) => !c.reverts && !c.reverted_by).slice(0, 4);
  const tell = useTold(done);
  return (
    <Card
      title={t`Recent activity`}
      flush
      aside={
        <Link className="link" to="/activity" search={{}}>
          <Trans>Activity</Trans>
        </Link>
      }
    >
      {!data && <Bones rows={3} />}
      <Lines>
        {data && done.length === 0 && <Item name={t`No activity yet`} />}
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
                  <Trans>View</Trans>
                </Link>
              ) : (
                <Button
                  icon="undo"
                  aria-label={t`Undo: ${{ change: tell(c) }}`}
                  onClick={() => void undo(client, [c.id])}
                >
                  <Trans>Undo</Trans>
                </Button>
              ))
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
