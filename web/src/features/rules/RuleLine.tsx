import { plural, t } from "@lingui/core/macro";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { recorded } from "#/api/changes";
import { deleteRule, patchRule, type Rule } from "#/api/rules";
import { moment } from "#/lib/dates";
import { authorOfChange } from "#/parts/author";
import { undo } from "#/parts/edit";
import { recordHint, recordOf } from "#/parts/record";
import { useAction } from "#/parts/useAction";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Badge } from "#/ui/Chip";
import { Item } from "#/ui/Lines";
import { toasts } from "#/ui/toasts";
import type { Step } from "./order";
import css from "./Rules.module.css";
import { parse } from "./tree";
import { useNames } from "./useNames";
import { sentenceOf } from "./words";

const touches = ["rules", "changes", "overview"];

/** How often a rule matched. */
function matches({ hit_count, last_hit_at }: Rule): string {
  if (!hit_count) return t`No matches yet`;
  const time = last_hit_at ? moment(last_hit_at) : "";
  return time
    ? plural(hit_count, { one: `Matched # time, last ${time}`, other: `Matched # times, last ${time}` })
    : plural(hit_count, { one: "Matched # time", other: "Matched # times" });
}

type Props = { rule: Rule; writes: boolean; up: Step[] | null; down: Step[] | null };

/** One rule: its author, actions, matches and menu. A suggested rule can be accepted or deleted. */
export function RuleLine({ rule: r, writes, up, down }: Props) {
  const client = useQueryClient();
  const { names } = useNames();
  const { name } = r;
  const turn = useAction({
    act: (enabled: boolean) => recorded(patchRule(r.id, { enabled })),
    touches,
    text: (_, enabled) => (enabled ? t`“${name}” turned on` : t`“${name}” turned off`),
    change: (x) => x.change,
  });
  const remove = useAction({
    act: () => recorded(deleteRule(r.id)),
    touches,
    text: t`“${name}” deleted`,
    change: (x) => x.change,
  });
  const move = useAction({
    act: async (steps: Step[]) => {
      const changes: string[] = [];
      for (const s of steps) {
        const { change } = await recorded(patchRule(s.id, { priority: s.priority }));
        if (change) changes.push(change);
      }
      toasts.say({ text: t`“${name}” moved`, undo: () => void undo(client, changes) });
    },
    touches,
  });
  const busy = turn.isPending || remove.isPending || move.isPending;
  const expired = r.expires_at && Date.parse(r.expires_at) < Date.now();
  const author = r.created_by_name || t`someone`;
  const made = r.is_system
    ? t`built-in`
    : r.proposed
      ? t`Suggested by ${{ maker: author }}`
      : t`created by ${{ maker: author }}`;
  const [act, actOn] = r.enabled
    ? [t`Turn off`, t`Turn off: ${name}`]
    : r.proposed
      ? [t`Accept`, t`Accept: ${name}`]
      : [t`Turn on`, t`Turn on: ${name}`];
  return (
    <Item
      below
      mark={
        <AuthorBadge
          author={
            r.is_system
              ? { kind: "rule", name: "coffer" }
              : authorOfChange({ actor_type: r.created_by_type, actor_name: r.created_by_name })
          }
          large
        />
      }
      name={<bdi className={r.enabled ? undefined : "dim"}>{r.name}</bdi>}
      open={
        r.is_system
          ? undefined
          : (shown) => (
              <Link to="/rules/$id" params={{ id: r.short_id }} search={{}}>
                {shown}
              </Link>
            )
      }
      hint={
        <>
          <bdi>{sentenceOf(parse(r.conditions), r.actions, names)}</bdi>
          <br />
          {r.proposed ? made : `${matches(r)} · ${made}`}
          {r.record && r.record.decisions > 0 && <span title={recordHint()}> · {recordOf(r.record)}</span>}
        </>
      }
      end={
        <span className={css.end}>
          {expired ? <Badge>{t`expired`}</Badge> : !r.enabled && !r.proposed && <Badge>{t`off`}</Badge>}
          {writes && (
            <>
              <Button
                kind={r.proposed ? "plain" : "quiet"}
                disabled={busy}
                aria-label={actOn}
                onClick={() => turn.mutate(!r.enabled)}
              >
                {act}
              </Button>
              {!r.proposed && (
                <>
                  <Button
                    kind="quiet"
                    icon="up"
                    disabled={busy || !up}
                    aria-label={t`Move up: ${name}`}
                    title={t`Move up`}
                    onClick={() => up && move.mutate(up)}
                  />
                  <Button
                    kind="quiet"
                    icon="dn"
                    disabled={busy || !down}
                    aria-label={t`Move down: ${name}`}
                    title={t`Move down`}
                    onClick={() => down && move.mutate(down)}
                  />
                </>
              )}
              <Button
                kind="quiet"
                icon="trash"
                disabled={busy || r.is_system}
                aria-label={t`Delete: ${name}`}
                title={r.is_system ? t`Built-in rules can only be turned off` : t`Delete`}
                onClick={() => remove.mutate()}
              />
            </>
          )}
        </span>
      }
    />
  );
}
