import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
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

/** A recurring payment: its amount, when it is due, and its last price change. Its name opens the transactions. */
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
        ? t`${{ name: called(r) }} confirmed`
        : v.state === "dismissed"
          ? t`Dismissed. coffer won’t suggest it again`
          : v.state
            ? t({ message: "Restored", context: "a recurring payment" })
            : t`Renamed`,
    change: (x) => x.change,
  });
  const dismissed = r.state === "dismissed";
  return (
    <Item
      below
      mark={<Tile {...look(r.category)} />}
      name={
        <>
          <bdi>{called(r)}</bdi>{" "}
          {r.status === "late" && !dismissed && (
            <Badge mood="warn">
              <Trans>overdue</Trans>
            </Badge>
          )}
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
            {r.amount_type === "variable" ? (
              <span>
                <Trans>
                  <span className="dim">about</span> <Amount value={cents(r.amount)} currency={r.iso_currency_code} />
                </Trans>
              </span>
            ) : (
              <Amount value={cents(r.amount)} currency={r.iso_currency_code} />
            )}
            {r.cadence !== "yearly" && r.next_date && (
              <span className="small dim">
                <Trans>{{ amount: money(absolute(r.yearly_amount), r.iso_currency_code) }} per year</Trans>
              </span>
            )}
          </span>
          {writes && (
            <span className={css.deeds}>
              {r.state === "auto" && (
                <Button
                  kind="quiet"
                  icon="check"
                  aria-label={t`Confirm ${{ name: called(r) }}`}
                  disabled={decide.isPending}
                  onClick={() => decide.mutate({ state: "confirmed" })}
                />
              )}
              {!dismissed && (
                <>
                  <Button
                    kind="quiet"
                    icon="edit"
                    aria-label={t`Rename ${{ name: called(r) }}`}
                    onClick={() => setNames(true)}
                  />
                  <Button
                    kind="quiet"
                    icon="x"
                    aria-label={t`Dismiss ${{ name: called(r) }}`}
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
                  <Trans>Restore</Trans>
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
        title={t`Rename`}
        hint={
          <Trans>
            Bank description: <bdi>{r.payee_name}</bdi>
          </Trans>
        }
        act={t`Save`}
        busy={decide.isPending}
        error={decide.error}
        onSubmit={(f) => decide.mutate({ name: f.maybe("name") }, { onSuccess: () => setNames(false) })}
      >
        <Field label={t`Name`} name="name" defaultValue={r.name ?? ""} maxLength={200} autoComplete="off" />
      </FormDialog>
    </Item>
  );
}

const absolute = (n: number) => {
  const c = cents(n);
  return c < 0n ? -c : c;
};
