import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { payee, transaction } from "#/api/transactions";
import { dayFull } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useEdit } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { makerOf } from "#/parts/maker";
import { Figure } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Bones } from "#/ui/Card";
import { Badge, Chip, Tag, Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import css from "./Details.module.css";
import { type Deed, untag } from "./deed";
import { BankFacts, Gone, OtherSide } from "./Facts";
import { PartOf, Parts, SplitButton } from "./Parts";
import { type Asking, Pickers, type What } from "./Pickers";
import { Past, Said } from "./Said";
import { Why } from "./Why";
import { Written } from "./Written";

type Props = { id: string; writes: boolean; onClose: () => void; onStep: (by: 1 | -1) => void };

/** All about one payment: what it is, why it is filed so, what the bank says, what people said. */
export function Details({ id, writes, onClose, onStep }: Props) {
  const { data: t, error, refetch } = useQuery(transaction(id));
  const { look } = useCategories();
  const edit = useEdit();
  const [asking, setAsking] = useState<Asking | null>(null);
  const panel = useRef<HTMLElement>(null);
  const does = (d: Deed, seen?: Asking["seen"]) => {
    if (!t) return;
    edit.mutate({
      operations: [{ transaction_id: t.id, ...d.set }],
      said: d.said(1),
      ...(d.set.category && { seen }),
    });
  };
  const open = (what: What, at: Element | null | undefined) => {
    if (at && t) setAsking({ what, at, seen: new Map([[t.id, t.category]]) });
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
    m: () => panel.current?.querySelector<HTMLInputElement>("form input")?.focus(),
  });
  const tags = t?.tags.filter((tag) => tag !== "needs-review") ?? [];
  return (
    <aside ref={panel} className={css.panel} aria-label="One payment">
      <header className={css.head}>
        <div className="row">
          {!t?.is_split && t?.tags.includes("needs-review") && <Badge mood="act">to review</Badge>}
          {t?.pending && <Badge mood="pending">pending</Badge>}
          {t?.excluded && <Badge>not counted</Badge>}
          {t?.deleted_at && <Badge mood="bad">removed</Badge>}
          <span className="end row">
            <Button kind="quiet" icon="back" aria-label="Newer" title="Newer (K)" onClick={() => onStep(-1)} />
            <Button kind="quiet" icon="chev" aria-label="Older" title="Older (J)" onClick={() => onStep(1)} />
            <Button kind="quiet" icon="x" aria-label="Close" title="Close (Esc)" onClick={onClose} />
          </span>
        </div>
        {error && <Fault error={error} what="The payment" retry={() => void refetch()} />}
        {!t && !error && <Bones rows={3} />}
        {t && (
          <>
            <div className="row">
              <Tile {...look(t.category)} large />
              <div className="grow">
                <h2 className={css.name}>
                  <bdi>{payee(t)}</bdi>
                </h2>
                <p className="small dim">
                  {dayFull(t.date)} · <bdi>{t.account_name}</bdi>
                </p>
              </div>
            </div>
            <div className="row wrap">
              <Figure
                value={t.amount < 0 ? -cents(t.amount) : cents(t.amount)}
                currency={t.iso_currency_code}
                size="middle"
              />
              <Badge mood={t.amount < 0 ? "in" : "plain"}>{t.amount < 0 ? "money in" : "money out"}</Badge>
            </div>
            {!t.is_split && (
              <div className="row wrap">
                <Chip
                  name={t.category_display_name}
                  maker={makerOf(t.category_source)}
                  held={t.category !== null && t.category_source === "user"}
                />
                {writes && ask("category", t.category ? "Change" : "File under", "C")}
              </div>
            )}
            {!t.is_split && (writes || tags.length > 0) && (
              <div className="row wrap">
                {tags.map((tag) =>
                  writes ? (
                    <button
                      key={tag}
                      type="button"
                      className={css.tag}
                      title={`Take #${tag} off`}
                      aria-label={`Take ${tag} off`}
                      onClick={() => does(untag(tag))}
                    >
                      <Tag slug={tag} />
                      <Icon name="x" small />
                    </button>
                  ) : (
                    <Tag key={tag} slug={tag} />
                  ),
                )}
                {writes && ask("tag", tags.length ? "Tag" : "Add a tag", "T")}
                {writes && ask("payee", "Name the payee", "P")}
                {writes && t.origin !== "part" && !t.deleted_at && <SplitButton of={t}>Split</SplitButton>}
                {writes && (
                  <Link
                    className="link"
                    to="/rules/new"
                    search={{ from: t.short_id, category: t.category ?? undefined }}
                  >
                    Make a rule
                  </Link>
                )}
              </div>
            )}
          </>
        )}
      </header>
      {t && (
        <>
          {t.is_split ? <Parts of={t} writes={writes} /> : <Why of={t} writes={writes} onLetGo={(d) => does(d)} />}
          {t.parent_id && <PartOf id={t.parent_id} />}
          {t.origin === "manual" && <Written of={t} writes={writes} />}
          {t.linked_transaction_id && !(t.origin === "manual" && t.excluded) && (
            <OtherSide id={t.linked_transaction_id} />
          )}
          <BankFacts of={t} />
          <Said id={t.id} writes={writes} />
          <Past id={t.id} short={t.short_id} />
          {writes && t.origin !== "part" && <Gone of={t} />}
        </>
      )}
      <Pickers asking={asking} onClose={() => setAsking(null)} onDeed={does} />
    </aside>
  );
}
