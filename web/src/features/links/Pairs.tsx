import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { recorded } from "#/api/changes";
import { type AccountLink, decidePair, type Pair, type PairSide, pairs } from "#/api/links";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { Fault } from "#/parts/Fault";
import { useAction } from "#/parts/useAction";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Skeleton } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import css from "./LinksPage.module.css";

/** The kinds of cached data that a decision about links changes. */
export const touches = ["account-links", "overview", "transactions", "changes", "cashflow"];

const few = 3;

/** The pairs of a link, with both transactions of each. */
export function Pairs({ link, writes }: { link: AccountLink; writes: boolean }) {
  const list = useInfiniteQuery(pairs(link.id, few * 7, link.unsure > 0 ? "auto" : undefined));
  const [all, setAll] = useState(false);
  if (list.error) return <Fault error={list.error} what={t`the matches`} retry={() => void list.refetch()} />;
  if (!list.data) return <Skeleton rows={few} />;
  const found = list.data.pages.flatMap((p) => p.matches);
  const shown = all ? found : found.slice(0, few);
  const left = found.length - shown.length;
  return (
    <>
      <ul>
        {shown.map((p) => (
          <PairLine key={p.id} pair={p} asks={link.unsure > 0} writes={writes && link.confidence !== "rejected"} />
        ))}
      </ul>
      {(left > 0 || list.hasNextPage) && (
        <div className={css.words}>
          <Button kind="quiet" onClick={() => (left > 0 ? setAll(true) : void list.fetchNextPage())}>
            <Trans>Load more</Trans>
          </Button>
        </div>
      )}
    </>
  );
}

function PairLine({ pair: p, asks, writes }: { pair: Pair; asks: boolean; writes: boolean }) {
  const decide = useAction({
    act: (v: "confirmed" | "rejected") => recorded(decidePair(p.account_link_id, p.id, v)),
    touches,
    text: (_, v) => (v === "confirmed" ? t`Match confirmed` : t`Match removed`),
    change: (r) => r.change,
  });
  const apart = p.confidence === "rejected";
  const verdict = apart ? t`These match` : t`These don’t match`;
  return (
    <li className={css.pair}>
      <Side of={p.primary_transaction} />
      <Icon name="swap" small />
      <Side of={p.mirror_transaction} />
      <span className="row">
        {apart && (
          <Badge>
            <Trans>not a match</Trans>
          </Badge>
        )}
        {writes && asks && (
          <Button icon="check" disabled={decide.isPending} onClick={() => decide.mutate("confirmed")}>
            <Trans>These match</Trans>
          </Button>
        )}
        {writes && (
          <Button
            kind="quiet"
            icon={apart ? "link" : "x"}
            aria-label={verdict}
            title={verdict}
            disabled={decide.isPending}
            onClick={() => decide.mutate(apart ? "confirmed" : "rejected")}
          />
        )}
      </span>
    </li>
  );
}

function Side({ of: row }: { of: PairSide }) {
  return (
    <span className={css.side}>
      <Link className="cut" to="/transactions" search={{ open: row.short_id }}>
        <bdi>{row.payee_name}</bdi>
      </Link>
      <Amount value={cents(row.amount)} currency={row.iso_currency_code} />
      <span className="cut small dim">
        {dayShort(row.date, localDay(new Date()))} · <bdi>{row.account_name}</bdi>
      </span>
    </span>
  );
}
