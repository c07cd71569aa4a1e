import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accounts } from "#/api/accounts";
import { household } from "#/api/settings";
import { changeTarget, createTarget, deleteTarget, type Target } from "#/api/targets";
import { type Cents, cents, text } from "#/lib/money";
import { typed } from "#/lib/typed";
import { useCategories, within } from "#/parts/categories";
import { type Filled, FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { AmountField } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Check, Fields, Select } from "#/ui/Form";
import { taken, usualCurrency } from "./words";

/** The kinds of cached data that may change with a budget. */
export const touches = ["targets", "changes"] as const;

/** Adds a budget, or edits or deletes an existing one. */
export function TargetForm(p: { target?: Target; have: readonly Target[]; month: string; onClose: () => void }) {
  const { target, month, onClose } = p;
  const { choices, kind, name } = useCategories();
  const inForce = useQuery(household).data?.default_currency ?? "";
  const usual = usualCurrency(useQuery(accounts).data ?? [], inForce);
  const [typedCurrency, setCurrency] = useState<string>();
  const currency = typedCurrency ?? usual;
  const [fault, setFault] = useState<string>();
  const change = (r: { change: string | null }) => r.change;
  const make = useAction({ act: createTarget, touches, text: t`Budget added`, change, quiet: true });
  const save = useAction({ act: changeTarget, touches, text: t`Budget updated`, change, quiet: true });
  const drop = useAction({ act: deleteTarget, touches, text: t`Budget deleted`, change, quiet: true });
  const submit = (f: Filled) => {
    const amount: Cents | null = typed(f.text("amount"));
    const wrong = amount === null || amount <= 0n;
    setFault(wrong ? t`Enter an amount, for example 400.00.` : undefined);
    if (wrong) return;
    const body = { amount: Number(text(amount)), rollover: f.has("rollover"), start_month: f.text("start") };
    if (target) save.mutate({ id: target.id, ...body, end_month: f.maybe("end") }, { onSuccess: onClose });
    else
      make.mutate(
        { ...body, category: f.text("category"), iso_currency_code: f.maybe("currency")?.toUpperCase() },
        { onSuccess: onClose },
      );
  };
  const month_ = { type: "month", pattern: "(19|20)[0-9]{2}-(0[1-9]|1[0-2])", placeholder: "2026-01" };
  return (
    <FormDialog
      open
      onClose={onClose}
      title={target ? t`${{ category: name(target.category) }} budget` : t`Add budget`}
      hint={t`How much you want to spend in this category each month.`}
      act={target ? t`Save` : t`Add budget`}
      busy={make.isPending || save.isPending || drop.isPending}
      error={make.error ?? save.error ?? drop.error}
      onSubmit={submit}
      foot={
        target && (
          <Button kind="quiet" icon="trash" onClick={() => drop.mutate(target.id, { onSuccess: onClose })}>
            <Trans>Delete</Trans>
          </Button>
        )
      }
    >
      <Fields>
        {!target && (
          <Select
            label={t`Category`}
            name="category"
            hint={t`Includes subcategories.`}
            options={choices
              .filter((c) => kind(c.value) === "expense" && !taken(p.have, c.value, currency))
              .map((c) => [c.value, within(c.hint, c.label)])}
          />
        )}
        <AmountField
          label={target ? t`Monthly amount (${{ currency: target.iso_currency_code }})` : t`Monthly amount`}
          name="amount"
          example={40000n}
          amount={target && cents(target.amount)}
          fault={fault}
          required
        />
        {!target && (
          <Field
            label={t`Currency`}
            name="currency"
            required
            value={currency}
            onChange={(e) => setCurrency(e.target.value)}
            pattern="[A-Za-z]{3}"
            maxLength={3}
            autoComplete="off"
          />
        )}
        <Field label={t`Starts`} name="start" {...month_} defaultValue={target?.start_month ?? month} required />
        {target && (
          <Field
            label={t`Ends`}
            name="end"
            {...month_}
            hint={t`Leave blank for no end.`}
            defaultValue={target.end_month ?? ""}
          />
        )}
        <Check
          label={t`Roll over`}
          hint={t`Carry unspent or overspent amounts into the next month.`}
          name="rollover"
          defaultChecked={target?.rollover}
        />
      </Fields>
    </FormDialog>
  );
}
