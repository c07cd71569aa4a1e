import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { rehearseRevert } from "#/api/changes";
import { moment } from "#/lib/dates";
import { sorry, undo } from "#/parts/edit";
import { actorOf } from "#/parts/maker";
import { Button } from "#/ui/Button";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Seal } from "#/ui/Seal";
import css from "./ActivityPage.module.css";
import { causeOf, type Deed, type Tell } from "./days";
import { Entries } from "./Entries";
import { Strip, type Trial, trialOf } from "./Strip";

type Props = { deed: Deed; tell: Tell; writes: boolean; stays?: ReadonlySet<string> };

const many = 5; // more than this many fields are asked about first

/** One deed: who, what, before → after, and its way back. */
export function DeedCard({ deed, tell, writes, stays }: Props) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [trial, setTrial] = useState<Trial | null>(null);
  const [busy, setBusy] = useState(false);
  const { change: c, undoneBy } = deed;
  const undone = c.reverted_by !== null;
  const said = tell(c);
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
      const r = await rehearseRevert(c.id);
      setTrial(trialOf(r));
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
            <bdi>{said}</bdi>
          </span>
          <span className="small dim">
            {moment(c.created_at)} · {causeOf(c)}
            {undoneBy && ` · undone by ${undoneBy.actor_name}, ${moment(undoneBy.created_at)}`}
          </span>
        </div>
        {undone && <Badge>undone</Badge>}
        <div className={css.acts}>
          {c.entries > 0 && (
            <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? "Close" : c.entries === 1 ? "1 field" : `${c.entries.toLocaleString("en")} fields`}
              <Icon name={open ? "up" : "down"} small />
            </Button>
          )}
          {writes && !undone && c.entries > 0 && (
            <Button icon="undo" disabled={busy} aria-label={`Undo: ${said}`} onClick={() => void ask()}>
              Undo
            </Button>
          )}
          {writes && c.reverted_by && (
            <Button
              disabled={busy}
              aria-label={`Redo: ${said}`}
              onClick={() => c.reverted_by && void undo(client, [c.reverted_by], "Done again")}
            >
              Redo
            </Button>
          )}
        </div>
      </div>
      {trial && (
        <Strip
          title="Undo this?"
          trial={trial}
          busy={busy}
          onYes={() => void takeBack()}
          onSee={open ? undefined : () => setOpen(true)}
          onNo={() => setTrial(null)}
        />
      )}
      {open && <Entries change={c.id} stays={trial?.stays ?? stays} />}
    </article>
  );
}
