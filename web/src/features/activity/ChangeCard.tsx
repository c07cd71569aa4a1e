import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { rehearseRevert } from "#/api/changes";
import { moment } from "#/lib/dates";
import { transactions } from "#/lib/words";
import { actorName } from "#/parts/actor";
import { authorOfChange } from "#/parts/author";
import { showError, undo } from "#/parts/edit";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import css from "./ActivityPage.module.css";
import { type ActivityItem, causeOf, type Describe } from "./days";
import { Entries } from "./Entries";
import { Strip, type Trial, trialOf } from "./Strip";

type Props = { item: ActivityItem; describe: Describe; writes: boolean; stays?: ReadonlySet<string> };

const many = 5; // with more entries than this, a preview comes first

/** One change: who made it, what it did, the values before → after, and the button to undo it. */
export function ChangeCard({ item, describe, writes, stays }: Props) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [trial, setTrial] = useState<Trial | null>(null);
  const [busy, setBusy] = useState(false);
  const { change: c, undoneBy } = item;
  const undone = c.reverted_by !== null;
  const summary = describe({ ...c, actor_name: actorName(c) });
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
      showError(e);
    }
    setBusy(false);
  };
  return (
    <article className={css.card}>
      <div className={css.head}>
        <AuthorBadge author={authorOfChange(c)} large />
        <div className={css.two}>
          <span className={undone ? css.undone : "strong"}>
            <bdi>{summary}</bdi>
          </span>
          <span className="small dim">
            {moment(c.created_at)}
            {c.cause !== "api" && ` · ${causeOf(c.cause)}`}
            {undoneBy && ` · ${t`undone by ${{ who: actorName(undoneBy) }}, ${{ time: moment(undoneBy.created_at) }}`}`}
          </span>
        </div>
        {undone && (
          <Badge>
            <Trans>undone</Trans>
          </Badge>
        )}
        <div className={css.acts}>
          {c.entries > 0 && (
            <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? t`Hide` : c.transactions ? transactions(c.transactions) : t`Details`}
              <Icon name={open ? "up" : "down"} small />
            </Button>
          )}
          {writes && !undone && c.entries > 0 && (
            <Button icon="undo" disabled={busy} aria-label={t`Undo: ${{ title: summary }}`} onClick={() => void ask()}>
              <Trans>Undo</Trans>
            </Button>
          )}
          {writes && c.reverted_by && (
            <Button
              disabled={busy}
              aria-label={t`Redo: ${{ title: summary }}`}
              onClick={() => c.reverted_by && void undo(client, [c.reverted_by], t`Redone`)}
            >
              <Trans>Redo</Trans>
            </Button>
          )}
        </div>
      </div>
      {trial && (
        <Strip
          title={t`Undo this change?`}
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
