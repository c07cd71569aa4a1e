import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { payee, remove, restore, type Transaction, transaction } from "#/api/transactions";
import { dayFull, dayShort, localDay, moment } from "#/lib/dates";
import { cents } from "#/lib/money";
import { settle, sorry } from "#/parts/edit";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { toasts } from "#/ui/toasts";
import css from "./Details.module.css";

/** What the bank says about a payment, in its own words. */
export function BankFacts({ of: t }: { of: Transaction }) {
  const facts: [string, ReactNode][] = [
    [
      "Text",
      <bdi key="text" className="mono">
        {t.name}
      </bdi>,
    ],
  ];
  if (t.merchant_name && t.merchant_name !== t.name) facts.push(["Payee", <bdi key="payee">{t.merchant_name}</bdi>]);
  if (t.detail) facts.push(["Purpose", <bdi key="purpose">{t.detail}</bdi>]);
  if (t.authorized_date && t.authorized_date !== t.date) facts.push(["Paid on", dayFull(t.authorized_date)]);
  const said = t.category_detailed ?? t.category_primary;
  if (said) facts.push(["Its category", said.replaceAll("_", " ").toLowerCase()]);
  facts.push(["Came in", moment(t.created_at)]);
  return (
    <section>
      <h2>{t.origin === "manual" ? "As it was written down" : "What the bank says"}</h2>
      <dl className={css.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Link className="link" to="/transactions" search={{ similar: t.short_id }}>
        All payments like this one
      </Link>
    </section>
  );
}

/** The other payment of a transfer between own accounts. */
export function OtherSide({ id }: { id: string }) {
  const { data: t } = useQuery(transaction(id));
  if (!t) return null;
  return (
    <section>
      <h2>Its other side</h2>
      <p className={css.other}>
        <Link className="link cut" to="/transactions" search={(s) => ({ ...s, open: t.short_id })} resetScroll={false}>
          <bdi>{payee(t)}</bdi>
        </Link>
        <Amount value={cents(t.amount)} currency={t.iso_currency_code} />
        <span className="small dim">
          <bdi>{t.account_name}</bdi>, {dayShort(t.date, localDay(new Date()))}. Totals count a transfer once or not at
          all.
        </span>
      </p>
    </section>
  );
}

/** Removes a payment, or brings it back. */
export function Gone({ of: t }: { of: Transaction }) {
  const client = useQueryClient();
  const does = async (back: boolean) => {
    try {
      await (back ? restore(t.id) : remove(t.id));
      toasts.say({ text: back ? "It is back" : "Removed", undo: () => void does(!back) });
    } catch (e) {
      sorry(e);
    }
    await settle(client);
  };
  return (
    <section>
      {t.deleted_at ? (
        <Button icon="undo" onClick={() => void does(true)}>
          Bring it back
        </Button>
      ) : (
        <Button kind="quiet" icon="trash" onClick={() => void does(false)}>
          Remove this payment
        </Button>
      )}
    </section>
  );
}
