import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { revertAll } from "#/api/changes";
import { moment } from "#/lib/dates";
import { payments } from "#/lib/words";
import { settle, sorry, undo } from "#/parts/edit";
import { actorOf } from "#/parts/maker";
import { Button, Segments } from "#/ui/Button";
import { Icon } from "#/ui/Icon";
import { Seal } from "#/ui/Seal";
import { toasts } from "#/ui/toasts";
import css from "./ActivityPage.module.css";
import { DeedCard } from "./DeedCard";
import { type Group, span, type Tell } from "./days";
import { Strip, type Trial, trialOf } from "./Strip";

type How = "day" | "hour";
type Props = { group: Group; actor: string; tell: Tell; writes: boolean };

/** What an agent did in a day, with the way back for all of it or for its last hour. */
export function AgentCard({ group, actor, tell, writes }: Props) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [how, setHow] = useState<How>("day");
  const [trial, setTrial] = useState<Trial | null>(null);
  const [busy, setBusy] = useState(false);
  const newest = group.deeds[0]?.change;
  const oldest = group.deeds.at(-1)?.change;
  if (!newest || !oldest) return null;
  const live = group.deeds.filter((d) => d.change.reverted_by === null);
  const touched = group.deeds.reduce((n, d) => n + d.change.transactions, 0);
  const call = (h: How, dry: boolean) => revertAll({ actor_id: actor, ...span(newest.created_at, h) }, dry);
  const attempt = async (deed: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await deed();
    } catch (e) {
      sorry(e);
    }
    setBusy(false);
  };
  const ask = (h: How) =>
    attempt(async () => {
      setHow(h);
      const r = await call(h, true);
      setTrial(trialOf(r));
    });
  const takeBack = () =>
    attempt(async () => {
      const r = await call(how, false);
      const backs = r.results.flatMap((x) => (x.revert_id ? [x.revert_id] : [])).toReversed();
      setTrial(null);
      toasts.say(
        r.job_id
          ? { text: "It is being undone", note: "There is much of it. This goes on by itself." }
          : {
              text: `Undone: ${r.changes.toLocaleString("en")} changes of ${newest.actor_name}`,
              undo: backs.length ? () => void undo(client, backs, "Done again") : undefined,
            },
      );
      await settle(client);
    });
  const redo = () =>
    attempt(() =>
      undo(
        client,
        group.deeds.flatMap((d) => (d.change.reverted_by ? [d.change.reverted_by] : [])),
        "Done again",
      ),
    );
  return (
    <article className={css.card}>
      <div className={css.head}>
        <Seal maker={actorOf(newest)} large />
        <div className={css.two}>
          <span className="strong">
            <bdi>{newest.actor_name}</bdi> did {group.deeds.length === 1 ? "one thing" : `${group.deeds.length} things`}
            {touched > 0 && ` to ${payments(touched)}`}
          </span>
          <span className="small dim">
            {moment(oldest.created_at)} – {moment(newest.created_at)}
            {live.length < group.deeds.length && ` · ${group.deeds.length - live.length} undone`}
          </span>
        </div>
        <div className={css.acts}>
          <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Close" : "See them"}
            <Icon name={open ? "up" : "down"} small />
          </Button>
          {writes && live.length > 0 && (
            <Button icon="undo" disabled={busy} onClick={() => void ask("day")}>
              Undo its day
            </Button>
          )}
          {writes && live.length === 0 && (
            <Button disabled={busy} onClick={() => void redo()}>
              Redo its day
            </Button>
          )}
        </div>
      </div>
      {trial && (
        <Strip
          title={`Undo everything ${newest.actor_name} did ${how === "day" ? "that day" : "since that hour"}?`}
          trial={trial}
          busy={busy}
          onYes={() => void takeBack()}
          onSee={() => setOpen(true)}
          onNo={() => setTrial(null)}
        >
          <Segments
            label="How much"
            value={how}
            options={[
              ["day", "The whole day"],
              ["hour", `Since ${moment(span(newest.created_at, "hour").since)}`],
            ]}
            onChange={(h) => void ask(h)}
          />
        </Strip>
      )}
      {open && (
        <div className={css.inside}>
          {group.deeds.map((d) => (
            <DeedCard key={d.change.id} deed={d} tell={tell} writes={writes} stays={trial?.stays} />
          ))}
        </div>
      )}
    </article>
  );
}
