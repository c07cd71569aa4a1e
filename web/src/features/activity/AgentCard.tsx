import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Keep, revertAll } from "#/api/changes";
import { moment } from "#/lib/dates";
import { authorOfChange } from "#/parts/author";
import { settle, showError, undo } from "#/parts/edit";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button, Segments } from "#/ui/Button";
import { Icon } from "#/ui/Icon";
import { toasts } from "#/ui/toasts";
import css from "./ActivityPage.module.css";
import { ChangeCard } from "./ChangeCard";
import { type Describe, type Group, span } from "./days";
import { Strip, type Trial, trialOf } from "./Strip";

type How = "day" | "hour";
type Props = { group: Group; actor: string; describe: Describe; writes: boolean };

/**
 * An agent's changes on one day, with buttons to undo all of them, or only those since the hour of the newest change
 * began.
 */
export function AgentCard({ group, actor, describe, writes }: Props) {
  const client = useQueryClient();
  const [open, setOpen] = useState(false);
  const [how, setHow] = useState<How>("day");
  const [keep, setKeep] = useState<Keep>("reviewed");
  const [trial, setTrial] = useState<Trial | null>(null);
  const [busy, setBusy] = useState(false);
  const newest = group.items[0]?.change;
  const oldest = group.items.at(-1)?.change;
  if (!newest || !oldest) return null;
  const agent = newest.actor_name;
  const made = group.items.length;
  const [from, to] = [moment(oldest.created_at), moment(newest.created_at)];
  const time = moment(span(newest.created_at, "hour").since);
  const live = group.items.filter((d) => d.change.reverted_by === null);
  const touched = group.items.reduce((n, d) => n + d.change.transactions, 0);
  const call = (h: How, k: Keep, dry: boolean) =>
    revertAll({ actor_id: actor, ...span(newest.created_at, h), keep: k }, dry);
  const attempt = async (action: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await action();
    } catch (e) {
      showError(e);
    }
    setBusy(false);
  };
  const ask = (h: How, k: Keep) =>
    attempt(async () => {
      setHow(h);
      setKeep(k);
      const r = await call(h, k, true);
      setTrial(trialOf(r));
    });
  const takeBack = () =>
    attempt(async () => {
      const r = await call(how, keep, false);
      const backs = r.results.flatMap((x) => (x.revert_id ? [x.revert_id] : [])).toReversed();
      setTrial(null);
      toasts.say(
        r.job_id
          ? { text: t`Undoing…`, note: t`This may take a moment. You can leave this page.` }
          : {
              text: t`Undid ${plural(r.changes, { one: "# change", other: "# changes" })} by ${agent}`,
              undo: backs.length ? () => void undo(client, backs, t`Redone`) : undefined,
            },
      );
      await settle(client);
    });
  const redo = () =>
    attempt(() =>
      undo(
        client,
        group.items.flatMap((d) => (d.change.reverted_by ? [d.change.reverted_by] : [])),
        t`Redone`,
      ),
    );
  return (
    <article className={css.card}>
      <div className={css.head}>
        <AuthorBadge author={authorOfChange(newest)} large />
        <div className={css.two}>
          <span className="strong">
            {touched > 0 ? (
              <Trans>
                <bdi>{agent}</bdi> made <Plural value={made} one="# change" other="# changes" /> to{" "}
                <Plural value={touched} one="# transaction" other="# transactions" />
              </Trans>
            ) : (
              <Trans>
                <bdi>{agent}</bdi> made <Plural value={made} one="# change" other="# changes" />
              </Trans>
            )}
          </span>
          <span className="small dim">
            {from === to ? to : `${from} – ${to}`}
            {live.length < made && ` · ${plural(made - live.length, { one: "# undone", other: "# undone" })}`}
          </span>
        </div>
        <div className={css.acts}>
          <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? t`Hide` : t`Details`}
            <Icon name={open ? "up" : "down"} small />
          </Button>
          {writes && live.length > 0 && (
            <Button icon="undo" disabled={busy} onClick={() => void ask("day", "reviewed")}>
              <Trans>Undo all</Trans>
            </Button>
          )}
          {writes && live.length === 0 && (
            <Button disabled={busy} onClick={() => void redo()}>
              <Trans>Redo all</Trans>
            </Button>
          )}
        </div>
      </div>
      {trial && (
        <Strip
          title={
            how === "day" ? t`Undo everything ${agent} did that day?` : t`Undo everything ${agent} did after ${time}?`
          }
          trial={trial}
          busy={busy}
          onYes={() => void takeBack()}
          onSee={() => setOpen(true)}
          onNo={() => setTrial(null)}
        >
          <Segments
            label={t`Period`}
            value={how}
            options={[
              ["day", t`Whole day`],
              ["hour", t`Since ${time}`],
            ]}
            onChange={(h) => void ask(h, keep)}
          />
          {(keep === "none" || (trial.why.reviewed_since ?? 0) > 0) && (
            <Segments
              label={t`Reviewed changes`}
              value={keep}
              options={[
                ["reviewed", t`Keep reviewed changes`],
                ["none", t`Undo those too`],
              ]}
              onChange={(k) => void ask(how, k)}
            />
          )}
        </Strip>
      )}
      {open && (
        <div className={css.inside}>
          {group.items.map((d) => (
            <ChangeCard key={d.change.id} item={d} describe={describe} writes={writes} stays={trial?.stays} />
          ))}
        </div>
      )}
    </article>
  );
}
