import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { changeRecurring, type Recurring } from "#/api/recurring";
import { cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Amount, useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Badge, Tile } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Item } from "#/ui/Lines";
import css from "./RecurringPage.module.css";
import { called, change, when } from "./words";

/** A recurring payment: what it costs, when it comes, what became of its price. Its name opens the payments. */
export function RecurringLine({ one: r, today, writes }: { one: Recurring; today: string; writes: boolean }) {
  const { look } = useCategories();
  const money = useMoney();
  const [names, setNames] = useState(false);
  const say = (n: bigint) => money(n, r.iso_currency_code);
  const price = change(r, today, say);
  const decide = useDeed({
    act: (v: { state?: Recurring["state"]; name?: string | null }) => changeRecurring({ id: r.id, ...v }),
    touches: ["recurring", "changes"],
    said: (_, v) =>
      v.state === "confirmed"
        ? `${called(r)} is a recurring payment`
        : v.state === "dismissed"
          ? "Dismissed, and not proposed again"
          : v.state
            ? "Back in the list"
            : "Name changed",
    change: (x) => x.change,
  });
  const dismissed = r.state === "dismissed";
  return (
    <Item
      below
      mark={<Tile {...look(r.category)} />}
      name={
        <>
          <bdi>{called(r)}</bdi> {r.status === "late" && !dismissed && <Badge mood="warn">did not come</Badge>}
        </>
      }
      open={(name) => (
        <Link to="/transactions" search={{ recurring: r.short_id }}>
          {name}
        </Link>
      )}
      hint={
        <>
          {when(r, today)}
          {price && <span className={price.up === (r.direction === "out") ? css.look : css.good}>{price.text}</span>}
        </>
      }
      end={
        <>
          <span className={css.sums}>
            <Amount value={cents(r.amount)} currency={r.iso_currency_code} />
            {r.cadence !== "yearly" && r.next_date && (
              <span className="small dim">{money(absolute(r.yearly_amount), r.iso_currency_code)} a year</span>
            )}
          </span>
          {writes && (
            <span className={css.deeds}>
              {r.state === "auto" && (
                <Button
                  kind="quiet"
                  icon="check"
                  aria-label={`Confirm ${called(r)}`}
                  disabled={decide.isPending}
                  onClick={() => decide.mutate({ state: "confirmed" })}
                />
              )}
              {!dismissed && (
                <>
                  <Button kind="quiet" icon="edit" aria-label={`Rename ${called(r)}`} onClick={() => setNames(true)} />
                  <Button
                    kind="quiet"
                    icon="x"
                    aria-label={`Dismiss ${called(r)}`}
                    disabled={decide.isPending}
                    onClick={() => decide.mutate({ state: "dismissed" })}
                  />
                </>
              )}
              {dismissed && (
                <Button
                  kind="quiet"
                  icon="undo"
                  disabled={decide.isPending}
                  onClick={() => decide.mutate({ state: "auto" })}
                >
                  Bring back
                </Button>
              )}
            </span>
          )}
        </>
      }
    >
      <FormDialog
        open={names}
        onClose={() => setNames(false)}
        title="Name this payment"
        hint={
          <>
            The bank calls it <bdi>{r.payee_name}</bdi>.
          </>
        }
        act="Save the name"
        busy={decide.isPending}
        error={decide.error}
        onSubmit={(f) => decide.mutate({ name: f.maybe("name") }, { onSuccess: () => setNames(false) })}
      >
        <Field label="Name" name="name" defaultValue={r.name ?? ""} maxLength={200} autoComplete="off" />
      </FormDialog>
    </Item>
  );
}

const absolute = (n: number) => {
  const c = cents(n);
  return c < 0n ? -c : c;
};
