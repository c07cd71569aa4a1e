import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { live, type Run, transcript } from "#/api/workflows";
import { amounts } from "#/lib/persisted";
import { useCategories } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { type Entry, entriesOf } from "./lines";
import type { Decided } from "./sheets";
import css from "./Workflows.module.css";

const few = 200;

/**
 * The transcript of a run, line by line. Everything is shown as plain text, because banks and payees wrote parts of it.
 */
export function Transcript({ run: r }: { run: Run }) {
  const going = live(r);
  const { data, error, refetch } = useQuery(transcript(r.id, going));
  const hidden = amounts.use() === "hidden";
  const { name } = useCategories();
  const [all, showAll] = useState(false);
  // The last lines may have been written after the last request, so they are requested when the run has ended.
  useEffect(() => {
    if (!going) void refetch();
  }, [going, refetch]);
  const entries = useMemo(() => entriesOf(data ?? [], { hidden, category: name }), [data, hidden, name]);
  const shown = all ? entries : entries.slice(-few);
  return (
    <Card
      title={t`Transcript`}
      aside={entries.length ? plural(entries.length, { one: "# line", other: "# lines" }) : undefined}
      flush
    >
      {error && <Fault error={error} what={t`the transcript`} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={6} />}
      {shown.length < entries.length && (
        <Button kind="quiet" onClick={() => showAll(true)}>
          {plural(entries.length - shown.length, { one: "Show earlier # line", other: "Show earlier # lines" })}
        </Button>
      )}
      <Lines label={t`Transcript`}>
        {data && entries.length === 0 && (
          <Item
            name={t`No transcript`}
            hint={going ? t`The run hasn’t started.` : t`The transcript is empty or past its retention period.`}
          />
        )}
        {shown.map((s) => (
          <Line key={s.seq} entry={s} />
        ))}
      </Lines>
      {going && (
        <p className={`${css.words} dim`} aria-live="polite">
          <Trans>In progress…</Trans>
        </p>
      )}
    </Card>
  );
}

function Line({ entry: s }: { entry: Entry }) {
  const head = (
    <span className={css.head}>
      {s.who === "model" && <AuthorBadge author={{ kind: "agent", name: t`the model` }} />}
      <span className="grow">{s.title}</span>
      {s.badge && <Badge mood={s.badge[1]}>{s.badge[0]}</Badge>}
    </span>
  );
  return (
    <li className={css.line}>
      {s.more || s.rows?.length ? (
        <details>
          <summary>{head}</summary>
          {s.rows ? <Rows rows={s.rows} /> : <pre className={css.json}>{s.more}</pre>}
        </details>
      ) : (
        <div className={css.plain}>{head}</div>
      )}
      {s.text && <bdi className={css.text}>{s.text}</bdi>}
    </li>
  );
}

/** The results of a batch's rows. Each result links to its transaction. */
const Rows = ({ rows }: { rows: Decided[] }) => (
  <Lines label={t`Result for each row`}>
    {rows.map((r) => (
      <Item
        key={r.row}
        name={<bdi>{r.name}</bdi>}
        open={(n) => (r.id ? <OpenPayment id={r.id}>{n}</OpenPayment> : n)}
        hint={
          <>
            {r.what}
            {r.why && (
              <>
                {" · "}
                <bdi>{r.why}</bdi>
              </>
            )}
          </>
        }
      />
    ))}
  </Lines>
);

const OpenPayment = ({ id, children }: { id: string; children: ReactNode }) => (
  <Link to="/transactions" search={{ open: id }}>
    {children}
  </Link>
);
