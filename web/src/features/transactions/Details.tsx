import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { payee, transaction } from "#/api/transactions";
import { dayFull } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useEdit } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { makerOf } from "#/parts/maker";
import { Figure } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Bones } from "#/ui/Card";
import { Badge, Chip, Tag, Tile } from "#/ui/Chip";
import { PickerAt } from "#/ui/Picker";
import css from "./Details.module.css";
import { Past, Said } from "./Said";
import { Why } from "./Why";

type Props = { id: string; writes: boolean; onClose: () => void; onStep: (by: 1 | -1) => void };

/** All about one payment: what it is, why it is filed so, what the bank says, what people said. */
export function Details({ id, writes, onClose, onStep }: Props) {
  const { data: t, error, refetch } = useQuery(transaction(id));
  const { look, choices } = useCategories();
  const edit = useEdit();
  const change = useRef<HTMLButtonElement>(null);
  const [picking, pick] = useState(false);
  return (
    <aside className={css.panel} aria-label="One payment">
      <header className={css.head}>
        <div className="row">
          {t?.tags.includes("needs-review") && <Badge mood="act">to review</Badge>}
          {t?.pending && <Badge mood="pending">pending</Badge>}
          {t?.excluded && <Badge>not counted</Badge>}
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
            <div className="row wrap">
              <Chip name={t.category_display_name} maker={makerOf(t.category_source)} />
              {writes && (
                <Button ref={change} onClick={() => pick(true)}>
                  {t.category ? "Change" : "File under…"}
                </Button>
              )}
              {t.tags
                .filter((tag) => tag !== "needs-review")
                .map((tag) => (
                  <Link key={tag} className={css.tag} to="/transactions" search={{ tag }}>
                    <Tag slug={tag} />
                  </Link>
                ))}
            </div>
          </>
        )}
      </header>
      {t && (
        <>
          <Why of={t} />
          <section>
            <h2>What the bank says</h2>
            <dl className={css.facts}>
              <dt>Text</dt>
              <dd className="mono">
                <bdi>{t.name}</bdi>
              </dd>
              {t.merchant_name && t.merchant_name !== t.name && (
                <>
                  <dt>Payee</dt>
                  <dd>
                    <bdi>{t.merchant_name}</bdi>
                  </dd>
                </>
              )}
              {t.authorized_date && t.authorized_date !== t.date && (
                <>
                  <dt>Paid on</dt>
                  <dd>{dayFull(t.authorized_date)}</dd>
                </>
              )}
              {t.linked_transaction_id && (
                <>
                  <dt>Other side</dt>
                  <dd>
                    <Link className="link" to="/transactions" search={{ open: t.linked_transaction_id }}>
                      The payment it belongs to
                    </Link>
                  </dd>
                </>
              )}
            </dl>
          </section>
          <Said id={t.id} writes={writes} />
          <Past id={t.id} />
        </>
      )}
      <PickerAt
        label="File under"
        choices={choices}
        anchor={picking ? change.current : null}
        onClose={() => pick(false)}
        onPick={(c) => {
          pick(false);
          if (t)
            edit.mutate({ operations: [{ transaction_id: t.id, category: c.value }], said: `Filed under ${c.label}` });
        }}
      />
    </aside>
  );
}
