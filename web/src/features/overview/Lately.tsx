import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lately } from "#/api/changes";
import { session, writes } from "#/api/session";
import { moment } from "#/lib/dates";
import { undo } from "#/parts/edit";
import { actorOf } from "#/parts/maker";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Seal } from "#/ui/Seal";
import css from "./OverviewPage.module.css";

const few = 50; // what touched more is looked at before it is taken back

/** The last things that were done, by anyone, each with its way back. */
export function Lately() {
  const client = useQueryClient();
  const { data } = useQuery(lately);
  const may = writes(useQuery(session).data?.user?.role);
  const done = (data?.changes ?? []).filter((c) => !c.reverts && !c.reverted_by).slice(0, 4);
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
      {data && done.length === 0 && <p className={css.nothing}>Nothing was changed yet.</p>}
      <ul>
        {done.map((c) => (
          <li key={c.id} className={css.done}>
            <Seal maker={actorOf(c)} large />
            <span className="grow">
              <span className={`${css.title} cut`}>
                <bdi>{c.summary}</bdi>
              </span>
              <span className="small dim">
                {c.actor_name} · {moment(c.created_at)}
              </span>
            </span>
            {may && c.entries > few && (
              <Link className="link" to="/activity" search={{}}>
                See what
              </Link>
            )}
            {may && c.entries <= few && (
              <Button icon="undo" aria-label={`Undo: ${c.summary}`} onClick={() => void undo(client, [c.id])}>
                Undo
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
