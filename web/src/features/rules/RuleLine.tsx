import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { recorded } from "#/api/changes";
import { deleteRule, patchRule, type Rule } from "#/api/rules";
import { moment } from "#/lib/dates";
import { useDeed } from "#/parts/deed";
import { undo } from "#/parts/edit";
import { actorOf } from "#/parts/maker";
import { recordHint, recordOf } from "#/parts/record";
import { Button } from "#/ui/Button";
import { Badge } from "#/ui/Chip";
import { Item } from "#/ui/Lines";
import { Seal } from "#/ui/Seal";
import { toasts } from "#/ui/toasts";
import type { Step } from "./order";
import css from "./Rules.module.css";
import { parse } from "./tree";
import { useNames } from "./useNames";
import { sentenceOf } from "./words";

const touches = ["rules", "changes"];

type Props = { rule: Rule; writes: boolean; up: Step[] | null; down: Step[] | null };

/** One rule: who made it, what it does, how often it did, and what can be done with it. A proposed one is accepted or deleted. */
export function RuleLine({ rule: r, writes, up, down }: Props) {
  const client = useQueryClient();
  const { names } = useNames();
  const turn = useDeed({
    act: (enabled: boolean) => recorded(patchRule(r.id, { enabled })),
    touches,
    said: (_, enabled) => (enabled ? `“${r.name}” is on` : `“${r.name}” is off`),
    change: (x) => x.change,
  });
  const remove = useDeed({
    act: () => recorded(deleteRule(r.id)),
    touches,
    said: `“${r.name}” is deleted`,
    change: (x) => x.change,
  });
  const move = useDeed({
    act: async (steps: Step[]) => {
      const changes: string[] = [];
      for (const s of steps) {
        const { change } = await recorded(patchRule(s.id, { priority: s.priority }));
        if (change) changes.push(change);
      }
      toasts.say({ text: `“${r.name}” moved`, undo: () => void undo(client, changes) });
    },
    touches,
  });
  const busy = turn.isPending || remove.isPending || move.isPending;
  const expired = r.expires_at && Date.parse(r.expires_at) < Date.now();
  const hits = r.hit_count
    ? `${r.hit_count.toLocaleString("en")} ${r.hit_count === 1 ? "hit" : "hits"}${r.last_hit_at ? `, last ${moment(r.last_hit_at)}` : ""}`
    : "no hits yet";
  const maker = r.is_system ? "built in" : `${r.proposed ? "proposed by" : "by"} ${r.created_by_name || "someone"}`;
  const deed = r.enabled ? "Turn off" : r.proposed ? "Accept" : "Turn on";
  return (
    <Item
      below
      mark={
        <Seal
          maker={
            r.is_system
              ? { kind: "rule", name: "coffer" }
              : actorOf({ actor_type: r.created_by_type, actor_name: r.created_by_name })
          }
          large
        />
      }
      name={<bdi className={r.enabled ? undefined : "dim"}>{r.name}</bdi>}
      open={
        r.is_system
          ? undefined
          : (name) => (
              <Link to="/rules/$id" params={{ id: r.short_id }} search={{}}>
                {name}
              </Link>
            )
      }
      hint={
        <>
          <bdi>{sentenceOf(parse(r.conditions), r.actions, names)}</bdi>
          <br />
          {r.proposed ? maker : `${hits} · ${maker}`}
          {r.record && r.record.decisions > 0 && <span title={recordHint}> · {recordOf(r.record)}</span>}
        </>
      }
      end={
        <span className={css.end}>
          {expired ? <Badge>expired</Badge> : !r.enabled && !r.proposed && <Badge>off</Badge>}
          {writes && (
            <>
              <Button
                kind={r.proposed ? "plain" : "quiet"}
                disabled={busy}
                aria-label={`${deed}: ${r.name}`}
                onClick={() => turn.mutate(!r.enabled)}
              >
                {deed}
              </Button>
              {!r.proposed && (
                <>
                  <Button
                    kind="quiet"
                    icon="up"
                    disabled={busy || !up}
                    aria-label={`Earlier: ${r.name}`}
                    title="Runs earlier"
                    onClick={() => up && move.mutate(up)}
                  />
                  <Button
                    kind="quiet"
                    icon="dn"
                    disabled={busy || !down}
                    aria-label={`Later: ${r.name}`}
                    title="Runs later"
                    onClick={() => down && move.mutate(down)}
                  />
                </>
              )}
              <Button
                kind="quiet"
                icon="trash"
                disabled={busy || r.is_system}
                aria-label={`Delete: ${r.name}`}
                title={r.is_system ? "It is built in, and can only be turned off" : "Delete"}
                onClick={() => remove.mutate()}
              />
            </>
          )}
        </span>
      }
    />
  );
}
