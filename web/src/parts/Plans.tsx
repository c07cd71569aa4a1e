import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { plansWaiting } from "#/api/workflows";
import { moment } from "#/lib/dates";
import { Card } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";
import { planned } from "./plans";

/** The plans of workflows that wait for a person's decision. */
export function Plans() {
  const { data } = useQuery(plansWaiting);
  if (!data?.runs.length) return null;
  const count = `${data.runs.length}${data.has_more ? "+" : ""}`;
  return (
    <Card title={t`Proposed changes to review`} aside={count} flush warn>
      <Lines label={t`Proposed changes`}>
        {data.runs.map((r) => (
          <Item
            key={r.id}
            mark={<Tile tone={4} icon="bolt" />}
            name={<bdi>{r.workflow_name}</bdi>}
            hint={`${planned(r.plan)} · ${moment(r.finished_at ?? r.created_at)}`}
            open={(name) => (
              <Link to="/runs/$id" params={{ id: r.short_id }}>
                {name}
              </Link>
            )}
            end={<Icon name="chev" small />}
          />
        ))}
      </Lines>
    </Card>
  );
}
