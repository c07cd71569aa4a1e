import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Entry, entries } from "#/api/changes";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { fieldOf } from "#/parts/fields";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Skeleton } from "#/ui/Card";
import { Badge, Chip } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import css from "./ActivityPage.module.css";
import { placeOf } from "./days";

const pageful = 20;

/** The fields that a change set, each before → after. */
export function Entries({ change, stays }: { change: string; stays?: ReadonlySet<string> }) {
  const [limit, setLimit] = useState(pageful);
  const { data, error, refetch } = useQuery({ ...entries(change, limit), placeholderData: keepPreviousData });
  if (error) return <Fault error={error} what={t`the changes`} retry={() => void refetch()} />;
  if (!data) return <Skeleton rows={4} />;
  return (
    <>
      <ul>
        {data.entries.map((e) => (
          <Line key={`${e.id} ${e.field} ${e.after}`} entry={e} stays={stays?.has(placeOf(e)) === true} />
        ))}
      </ul>
      {data.has_more && (
        <div className={css.foot}>
          <Button kind="quiet" onClick={() => setLimit(Math.min(limit * 5, 500))}>
            <Trans>Load more</Trans>
          </Button>
        </div>
      )}
    </>
  );
}

function Line({ entry: e, stays }: { entry: Entry; stays: boolean }) {
  const { look, name } = useCategories();
  const filed = e.field === "category";
  const chip = (v: string | null, old: boolean) =>
    filed ? (
      <Chip name={v ? name(v) : null} tone={look(v).tone} old={old && v !== null} />
    ) : v === null ? (
      <span className="faint">
        <Trans>empty</Trans>
      </span>
    ) : (
      <Chip name={v} old={old} />
    );
  return (
    <li className={css.entry}>
      {e.transaction ? (
        <Link className="cut" to="/transactions" search={{ open: e.short_id }}>
          <bdi>{e.transaction.payee_name}</bdi>
        </Link>
      ) : (
        <span className="cut">{e.subject.replaceAll("_", " ")}</span>
      )}
      <span className="small dim">{fieldOf(e.field)}</span>
      <span className={css.change}>
        {chip(e.before, true)}
        <Icon name="arrow" small />
        <span className="sr">
          <Trans>changed to</Trans>
        </span>
        {chip(e.after, false)}
        {stays && (
          <Badge mood="held">
            <Trans>won’t change</Trans>
          </Badge>
        )}
      </span>
      <span className="num">
        {e.transaction && <Amount value={cents(e.transaction.amount)} currency={e.transaction.iso_currency_code} />}
      </span>
    </li>
  );
}
