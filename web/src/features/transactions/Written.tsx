import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { match, payee, type Transaction, transaction } from "#/api/transactions";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { useDeed } from "#/parts/deed";
import { PaymentForm } from "#/parts/PaymentForm";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import css from "./Details.module.css";

/** A payment that somebody wrote down: it can be corrected, and parted from the bank's that was taken for it. */
export function Written({ of: t, writes }: { of: Transaction; writes: boolean }) {
  const [open, setOpen] = useState(false);
  const bank = useQuery({ ...transaction(t.linked_transaction_id ?? ""), enabled: t.excluded }).data;
  const part = useDeed({
    act: () => match(t.id, null),
    touches: ["transactions", "accounts", "overview", "cashflow", "changes", "review"],
    said: "They are two payments now",
    change: (r) => r.change,
  });
  return (
    <section>
      <h2>Written down by hand</h2>
      {t.excluded && bank ? (
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
              The bank's own, {dayShort(bank.date, localDay(new Date()))}. It counts, and this one does not.
            </span>
          </p>
          {writes && (
            <Button disabled={part.isPending} onClick={() => part.mutate()}>
              These are two
            </Button>
          )}
        </>
      ) : (
        <p className="small dim">If the bank brings the same payment, the two are matched and count once.</p>
      )}
      {writes && !t.deleted_at && (
        <Button kind="quiet" icon="edit" onClick={() => setOpen(true)}>
          Correct it…
        </Button>
      )}
      {open && <PaymentForm of={t} onClose={() => setOpen(false)} />}
    </section>
  );
}
