import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { match, payee, type Transaction, transaction } from "#/api/transactions";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { PaymentForm } from "#/parts/PaymentForm";
import { useAction } from "#/parts/useAction";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import css from "./Details.module.css";

/** A manually added transaction. It can be edited, and unmatched from the bank's transaction. */
export function Written({ of: tx, writes }: { of: Transaction; writes: boolean }) {
  const [open, setOpen] = useState(false);
  const bank = useQuery({ ...transaction(tx.linked_transaction_id ?? ""), enabled: tx.excluded }).data;
  const part = useAction({
    act: () => match(tx.id, null),
    touches: ["transactions", "accounts", "overview", "cashflow", "changes", "review"],
    text: t`Now counted as two transactions`,
    change: (r) => r.change,
  });
  return (
    <section>
      <h2>
        <Trans>Added manually</Trans>
      </h2>
      {tx.excluded && bank ? (
        <>
          <p className={css.other}>
            <Link
              className="link cut"
              to="/transactions"
              search={(s) => ({ ...s, open: bank.short_id })}
              resetScroll={false}
            >
              <bdi>{payee(bank)}</bdi>
            </Link>
            <Amount value={cents(bank.amount)} currency={bank.iso_currency_code} />
            <span className="small dim">
              {t`Matches the bank’s transaction of ${{ day: dayShort(bank.date, localDay(new Date())) }}. Only the bank’s counts.`}
            </span>
          </p>
          {writes && (
            <Button disabled={part.isPending} onClick={() => part.mutate()}>
              <Trans>Not the same</Trans>
            </Button>
          )}
        </>
      ) : (
        <p className="small dim">
          <Trans>When the bank’s version arrives, coffer matches the two and counts them once.</Trans>
        </p>
      )}
      {writes && !tx.deleted_at && (
        <Button kind="quiet" icon="edit" onClick={() => setOpen(true)}>
          <Trans>Edit…</Trans>
        </Button>
      )}
      {open && <PaymentForm of={tx} onClose={() => setOpen(false)} />}
    </section>
  );
}
