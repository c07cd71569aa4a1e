import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { revert } from "#/api/changes";
import { moment } from "#/lib/dates";
import { sorry, undo } from "#/parts/edit";
import { actorOf } from "#/parts/maker";
import { Button } from "#/ui/Button";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Seal } from "#/ui/Seal";
import css from "./ActivityPage.module.css";
import { causeOf, type Deed } from "./days";
import { Entries } from "./Entries";

const many = 5; // more than this many fields are asked about first

type Trial = { back: number; stay: number };

/** One deed: who, what, before → after, and its way back. */
export function DeedCard({ deed, writes }: { deed: Deed; writes: boolean }) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [trial, setTrial] = useState<Trial | null>(null);
  const [busy, setBusy] = useState(false);
  const { change: c, undoneBy } = deed;
  const undone = c.reverted_by !== null;
  const takeBack = async () => {
    setBusy(true);
    await undo(client, [c.id]);
    setBusy(false);
    setTrial(null);
  };
  const ask = async () => {
    if (c.entries <= many) return takeBack();
    setBusy(true);
    try {
      const r = await revert(c.id, true);
      setTrial({ back: r.reverted, stay: r.skipped.length });
    } catch (e) {
      sorry(e);
    }
    setBusy(false);
  };
  return (
    <article className={css.card}>
      <div className={css.head}>
        <Seal maker={actorOf(c)} large />
        <div className={css.two}>
          <span className={undone ? css.undone : "strong"}>
            <bdi>{c.summary}</bdi>
          </span>
          <span className="small dim">
            {c.actor_name} · {moment(c.created_at)} · {causeOf(c)}
            {undoneBy && ` · taken back by ${undoneBy.actor_name}, ${moment(undoneBy.created_at)}`}
          </span>
        </div>
        {undone && <Badge>taken back</Badge>}
        <div className={css.acts}>
          {c.entries > 0 && (
            <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? "Close" : c.entries === 1 ? "1 field" : `${c.entries.toLocaleString("en")} fields`}
              <Icon name={open ? "up" : "down"} small />
            </Button>
          )}
          {writes && !undone && c.entries > 0 && (
            <Button icon="undo" disabled={busy} aria-label={`Undo: ${c.summary}`} onClick={() => void ask()}>
              Undo
            </Button>
          )}
          {writes && undone && undoneBy && (
            <Button disabled={busy} aria-label={`Redo: ${c.summary}`} onClick={() => void undo(client, [undoneBy.id])}>
              Redo
            </Button>
          )}
        </div>
      </div>
      {trial && (
        <div className={css.strip}>
          <strong>Take this back?</strong>
          <p>
            {trial.back.toLocaleString("en")} of {(trial.back + trial.stay).toLocaleString("en")} fields go back to what
            they were.
            {trial.stay > 0 &&
              ` ${trial.stay.toLocaleString("en")} stay, because they were changed since or a person holds them.`}
          </p>
          <svg className={css.bar} aria-hidden="true">
            <rect className={css.stay} width="100%" height="8" rx="4" />
            <rect
              className={css.back}
              width={`${(100 * trial.back) / Math.max(1, trial.back + trial.stay)}%`}
              height="8"
              rx="4"
            />
          </svg>
          <div className="row wrap">
            <Button kind="filled" disabled={busy || trial.back === 0} onClick={() => void takeBack()}>
              Take back {trial.back.toLocaleString("en")}
            </Button>
            <Button onClick={() => setOpen(true)}>See them first</Button>
            <Button kind="quiet" onClick={() => setTrial(null)}>
              Keep
            </Button>
          </div>
        </div>
      )}
      {open && <Entries change={c.id} />}
    </article>
  );
}
