import { t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { type Detail, join, payee, transaction } from "#/api/transactions";
import { cents } from "#/lib/money";
import { authorOf } from "#/parts/author";
import { useAction } from "#/parts/useAction";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Chip } from "#/ui/Chip";
import css from "./Split.module.css";
import { touches } from "./split";

const SplitDialog = lazy(() => import("./SplitDialog").then((m) => ({ default: m.SplitDialog })));

const open = (short: string) => (s: object) => ({ ...s, open: short });

/** Opens the form that splits a transaction. */
export function SplitButton({ of: tx, children }: { of: Detail; children: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{children}</Button>
      {isOpen && (
        <Suspense>
          <SplitDialog of={tx} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The parts that a transaction is split into. */
export function Parts({ of: tx, writes }: { of: Detail; writes: boolean }) {
  const unsplit = useAction({ act: join, touches, text: t`Split removed`, change: (r) => r.change });
  return (
    <section>
      <h2>
        <Plural value={tx.parts?.length ?? 0} one="Split into #" other="Split into #" />
      </h2>
      <ul className={css.list}>
        {tx.parts?.map((p) => (
          <li key={p.id}>
            <Link className="link cut" to="/transactions" search={open(p.short_id)} resetScroll={false}>
              <Chip
                name={p.category_display_name}
                author={authorOf(p.category_source)}
                held={p.category !== null && p.category_source === "user"}
              />
            </Link>
            <Amount value={cents(p.amount)} currency={tx.iso_currency_code} />
          </li>
        ))}
      </ul>
      {writes && !tx.deleted_at && (
        <div className="row wrap">
          <SplitButton of={tx}>{t`Edit split`}</SplitButton>
          <Button kind="quiet" disabled={unsplit.isPending} onClick={() => unsplit.mutate(tx.id)}>
            <Trans>Remove split</Trans>
          </Button>
        </div>
      )}
    </section>
  );
}

/** The transaction that a part belongs to. */
export function PartOf({ id }: { id: string }) {
  const { data: tx } = useQuery(transaction(id));
  if (!tx) return null;
  return (
    <section>
      <h2>
        <Trans>Part of</Trans>
      </h2>
      <ul className={css.list}>
        <li>
          <Link className="link cut" to="/transactions" search={open(tx.short_id)} resetScroll={false}>
            <bdi>{payee(tx)}</bdi>
          </Link>
          <Amount value={cents(tx.amount)} currency={tx.iso_currency_code} />
        </li>
      </ul>
    </section>
  );
}
