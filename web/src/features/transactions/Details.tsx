import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { payee, transaction } from "#/api/transactions";
import { dayFull } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { cents } from "#/lib/money";
import { authorOf } from "#/parts/author";
import { useCategories } from "#/parts/categories";
import { useEdit } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { Figure } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Skeleton } from "#/ui/Card";
import { Badge, Chip, Tag, Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { type BulkChange, untag } from "./bulkChange";
import { Comments, History } from "./Comments";
import css from "./Details.module.css";
import { BankFacts, Gone, InTotals, OtherSide, RefundOf } from "./Facts";
import { PartOf, Parts, SplitButton } from "./Parts";
import { type Asking, Pickers, type What } from "./Pickers";
import { Why } from "./Why";
import { Written } from "./Written";

type Props = { id: string; writes: boolean; onClose: () => void; onStep: (by: 1 | -1) => void };

/** One transaction: its category and the reason for it, the bank's details, comments and history. */
export function Details({ id, writes, onClose, onStep }: Props) {
  const { data: tx, error, refetch } = useQuery(transaction(id));
  const { look } = useCategories();
  const edit = useEdit();
  const [asking, setAsking] = useState<Asking | null>(null);
  const panel = useRef<HTMLElement>(null);
  const applyChange = (d: BulkChange, shown?: Asking["shown"]) => {
    if (!tx) return;
    edit.mutate({
      operations: [{ transaction_id: tx.id, ...d.set }],
      text: d.text(1),
      ...(d.set.category && { shown }),
    });
  };
  const open = (what: What, at: Element | null | undefined) => {
    if (at && tx) setAsking({ what, at, shown: new Map([[tx.id, tx.category]]) });
  };
  const ask = (what: What, label: string, keyed: string) => (
    <Button keyed={keyed} data-ask={what} onClick={(e) => open(what, e.currentTarget)}>
      {label}
    </Button>
  );
  const press = (what: What) => open(what, panel.current?.querySelector(`[data-ask="${what}"]`));
  useKeys({
    c: () => press("category"),
    t: () => press("tag"),
    p: () => press("payee"),
    m: () => panel.current?.querySelector<HTMLInputElement>("form > input")?.focus(),
  });
  const tags = tx?.tags.filter((tag) => tag !== "needs-review") ?? [];
  return (
    <aside ref={panel} className={css.panel} aria-label={t`Transaction details`}>
      <header className={css.head}>
        <div className="row">
          {!tx?.is_split && tx?.tags.includes("needs-review") && <Badge mood="act">{t`to review`}</Badge>}
          {tx?.pending && <Badge mood="pending">{t`pending`}</Badge>}
          {(tx?.excluded || tx?.transfer || tx?.excluded_reason) && <Badge>{t`excluded from totals`}</Badge>}
          {tx?.deleted_at && <Badge mood="bad">{t`deleted`}</Badge>}
          <span className="end row">
            <Button
              kind="quiet"
              icon="back"
              aria-label={t`Previous`}
              title={t`Previous (K)`}
              onClick={() => onStep(-1)}
            />
            <Button kind="quiet" icon="chev" aria-label={t`Next`} title={t`Next (J)`} onClick={() => onStep(1)} />
            <Button kind="quiet" icon="x" aria-label={t`Close`} title={t`Close (Esc)`} onClick={onClose} />
          </span>
        </div>
        {error && <Fault error={error} what={t`the transaction`} retry={() => void refetch()} />}
        {!tx && !error && <Skeleton rows={3} />}
        {tx && (
          <>
            <div className="row">
              <Tile {...look(tx.category)} large />
              <div className="grow">
                <h2 className={css.name}>
                  <Link to="/payees/$id" params={{ id: tx.counterparty_id ?? tx.payee }}>
                    <bdi>{payee(tx)}</bdi>
                  </Link>
                </h2>
                <p className="small dim">
                  {dayFull(tx.date)} · <bdi>{tx.account_name}</bdi>
                </p>
              </div>
            </div>
            <div className="row wrap">
              <Figure
                value={tx.amount < 0 ? -cents(tx.amount) : cents(tx.amount)}
                currency={tx.iso_currency_code}
                size="middle"
              />
              <Badge mood={tx.amount < 0 ? "in" : "plain"}>{tx.amount < 0 ? t`money in` : t`money out`}</Badge>
            </div>
            {!tx.is_split && (
              <div className="row wrap">
                <Chip
                  name={tx.category_display_name}
                  author={authorOf(tx.category_source)}
                  held={tx.category !== null && tx.category_source === "user"}
                />
                {writes && ask("category", tx.category ? t`Change category` : t`Categorize`, "C")}
              </div>
            )}
            {!tx.is_split && (writes || tags.length > 0) && (
              <div className="row wrap">
                {tags.map((tag) =>
                  writes ? (
                    <button
                      key={tag}
                      type="button"
                      className={css.tag}
                      title={t`Remove #${tag}`}
                      aria-label={t`Remove tag ${tag}`}
                      onClick={() => applyChange(untag(tag))}
                    >
                      <Tag slug={tag} />
                      <Icon name="x" small />
                    </button>
                  ) : (
                    <Tag key={tag} slug={tag} />
                  ),
                )}
                {writes && ask("tag", t`Add tag`, "T")}
                {writes && ask("payee", t`Change payee`, "P")}
                {writes && tx.origin !== "part" && !tx.deleted_at && <SplitButton of={tx}>{t`Split`}</SplitButton>}
                {writes && (
                  <Link
                    className="link"
                    to="/rules/new"
                    search={{ from: tx.short_id, category: tx.category ?? undefined }}
                  >
                    <Trans>Create rule</Trans>
                  </Link>
                )}
              </div>
            )}
          </>
        )}
      </header>
      {tx && (
        <>
          {tx.is_split ? (
            <Parts of={tx} writes={writes} />
          ) : (
            <Why of={tx} writes={writes} onLetGo={(d) => applyChange(d)} />
          )}
          {tx.parent_id && <PartOf id={tx.parent_id} />}
          {tx.origin === "manual" && <Written of={tx} writes={writes} />}
          {tx.linked_transaction_id && !(tx.origin === "manual" && tx.excluded) && (
            <OtherSide of={tx} id={tx.linked_transaction_id} writes={writes} />
          )}
          {tx.refund_of && <RefundOf id={tx.refund_of} />}
          <BankFacts of={tx} />
          {!tx.is_split && !tx.deleted_at && <InTotals of={tx} writes={writes} />}
          <Comments id={tx.id} writes={writes} />
          <History id={tx.id} short={tx.short_id} />
          {writes && tx.origin !== "part" && <Gone of={tx} />}
        </>
      )}
      <Pickers asking={asking} onClose={() => setAsking(null)} onChange={applyChange} />
    </aside>
  );
}
