import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { recentChanges } from "#/api/changes";
import { moment } from "#/lib/dates";
import { authorOfChange } from "#/parts/author";
import { changeSummary } from "#/parts/changeSummary";
import { undo } from "#/parts/edit";
import { useCan } from "#/parts/rights";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";

const few = 50; // a change with more entries must be opened in Activity before it can be undone

/** The latest changes by anyone, each with a button to undo it. */
export function RecentChanges() {
  const client = useQueryClient();
  const { data } = useQuery(recentChanges);
  const may = useCan().write;
  const done = (data?.changes ?? []).filter((c) => !c.reverts && !c.reverted_by).slice(0, 4);
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
      {!data && <Skeleton rows={3} />}
      <Lines>
        {data && done.length === 0 && <Item name={t`No activity yet`} />}
        {done.map((c) => (
          <Item
            key={c.id}
            mark={<AuthorBadge author={authorOfChange(c)} large />}
            name={<bdi>{changeSummary(c)}</bdi>}
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
                  aria-label={t`Undo: ${{ change: changeSummary(c) }}`}
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
