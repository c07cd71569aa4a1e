import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { type Detail, join, payee, transaction } from "#/api/transactions";
import { cents } from "#/lib/money";
import { useDeed } from "#/parts/deed";
import { makerOf } from "#/parts/maker";
import { Amount } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Chip } from "#/ui/Chip";
import css from "./Split.module.css";
import { touches } from "./split";

const SplitDialog = lazy(() => import("./SplitDialog").then((m) => ({ default: m.SplitDialog })));

const open = (short: string) => (s: object) => ({ ...s, open: short });

/** Asks how a payment is to be divided. */
export function SplitButton({ of: t, children }: { of: Detail; children: string }) {
  const [asked, setAsked] = useState(false);
  return (
    <>
      <Button onClick={() => setAsked(true)}>{children}</Button>
      {asked && (
        <Suspense>
          <SplitDialog of={t} onClose={() => setAsked(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The parts that a payment is split into. */
export function Parts({ of: t, writes }: { of: Detail; writes: boolean }) {
  const whole = useDeed({ act: join, touches, said: "Joined again", change: (r) => r.change });
  return (
    <section>
      <h2>Its {t.parts?.length} parts</h2>
      <ul className={css.list}>
        {t.parts?.map((p) => (
          <li key={p.id}>
            <Link className="link cut" to="/transactions" search={open(p.short_id)} resetScroll={false}>
              <Chip
                name={p.category_display_name}
                maker={makerOf(p.category_source)}
                held={p.category !== null && p.category_source === "user"}
              />
            </Link>
            <Amount value={cents(p.amount)} currency={t.iso_currency_code} />
          </li>
        ))}
      </ul>
      {writes && !t.deleted_at && (
        <div className="row wrap">
          <SplitButton of={t}>Change the parts</SplitButton>
          <Button kind="quiet" disabled={whole.isPending} onClick={() => whole.mutate(t.id)}>
            Join again
          </Button>
        </div>
      )}
    </section>
  );
}

/** The payment that a part belongs to. */
export function PartOf({ id }: { id: string }) {
  const { data: t } = useQuery(transaction(id));
  if (!t) return null;
  return (
    <section>
      <h2>A part of</h2>
      <ul className={css.list}>
        <li>
          <Link className="link cut" to="/transactions" search={open(t.short_id)} resetScroll={false}>
            <bdi>{payee(t)}</bdi>
          </Link>
          <Amount value={cents(t.amount)} currency={t.iso_currency_code} />
        </li>
      </ul>
    </section>
  );
}
