import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { comments, history } from "#/api/transactions";
import { moment } from "#/lib/dates";
import { restoreDraft } from "#/lib/drafts";
import { authorOfChange } from "#/parts/author";
import { useCategories } from "#/parts/categories";
import { useEdit } from "#/parts/edit";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { annotationText } from "./annotationText";
import css from "./Details.module.css";

/** The comments of people and agents on a transaction. */
export function Comments({ id, writes }: { id: string; writes: boolean }) {
  const client = useQueryClient();
  const { data } = useQuery(comments(id));
  const edit = useEdit();
  const [text, setText] = useState("");
  const submit = (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault();
    if (!text.trim()) return;
    edit.mutate(
      { operations: [{ transaction_id: id, comment: text.trim() }], text: t`Comment added` },
      {
        onSuccess: () => {
          setText("");
          void client.invalidateQueries({ queryKey: comments(id).queryKey });
        },
      },
    );
  };
  if (!writes && !data?.comments.length) return null;
  return (
    <section>
      <h2>
        <Trans>Comments</Trans>
      </h2>
      <ul className={css.comments}>
        {data?.comments.map((c) => (
          <li key={c.id}>
            <AuthorBadge author={authorOfChange({ actor_type: c.author_type, actor_name: c.author_name })} large />
            <p>
              <bdi>{c.content}</bdi> <span className="small faint">{moment(c.created_at)}</span>
            </p>
          </li>
        ))}
      </ul>
      {writes && (
        <form className={css.write} onSubmit={submit} data-draft="comment" ref={restoreDraft}>
          <input
            name="comment"
            aria-label={t`Add a comment`}
            placeholder={t`Add a comment`}
            value={text}
            onChange={(e) => setText(e.target.value)}
          />
          <Button type="submit" disabled={!text.trim() || edit.isPending}>
            <Trans>Add</Trans>
          </Button>
        </form>
      )}
    </section>
  );
}

/** The history of a transaction, newest first. */
export function History({ id, short }: { id: string; short: string }) {
  const { data } = useQuery(history(id));
  const { name } = useCategories();
  const annotations = (data?.annotations ?? []).toReversed().filter((a) => a.kind !== "rule");
  if (!annotations.length) return null;
  return (
    <section>
      <h2>
        <Trans>History</Trans>
      </h2>
      <ul className={css.past}>
        {annotations.map((a) => (
          <li key={a.id}>
            <AuthorBadge author={a.rule_id ? { kind: "rule" } : authorOfChange(a)} />
            <span>
              {annotationText(a, name)}
              {a.note && <span className="dim"> · {t`“${{ words: a.note }}”`}</span>}
            </span>
            <span className="small faint">{moment(a.created_at)}</span>
          </li>
        ))}
      </ul>
      <Link className="link small" to="/activity" search={{ transaction: short }}>
        <Trans>View full history</Trans>
      </Link>
    </section>
  );
}
