import { useState } from "react";
import { changeTarget, createTarget, deleteTarget, type Target } from "#/api/targets";
import { type Cents, text, typed } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { useDeed } from "#/parts/deed";
import { type Filled, FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Check, Fields, Select } from "#/ui/Form";

/** The nouns that a target shows in. */
export const touches = ["targets", "changes"] as const;

/** Sets a target, or changes or deletes one. */
export function TargetForm({ target: t, month, onClose }: { target?: Target; month: string; onClose: () => void }) {
  const { choices, kind, name } = useCategories();
  const [fault, setFault] = useState<string>();
  const change = (r: { change: string | null }) => r.change;
  const make = useDeed({ act: createTarget, touches, said: "Target set", change, quiet: true });
  const save = useDeed({ act: changeTarget, touches, said: "Target changed", change, quiet: true });
  const drop = useDeed({ act: deleteTarget, touches, said: "Target deleted", change, quiet: true });
  const submit = (f: Filled) => {
    const amount: Cents | null = typed(f.text("amount"));
    const wrong = amount === null || amount <= 0n;
    setFault(wrong ? "Write an amount such as 400.00." : undefined);
    if (wrong) return;
    const body = { amount: Number(text(amount)), rollover: f.has("rollover"), start_month: f.text("start") };
    if (t) save.mutate({ id: t.id, ...body, end_month: f.maybe("end") }, { onSuccess: onClose });
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
      title={t ? `Target for ${name(t.category)}` : "Set a target"}
      hint="What you mean to spend on a category each month. It moves no money."
      act={t ? "Save" : "Set the target"}
      busy={make.isPending || save.isPending || drop.isPending}
      error={make.error ?? save.error ?? drop.error}
      onSubmit={submit}
      foot={
        t && (
          <Button kind="quiet" icon="trash" onClick={() => drop.mutate(t.id, { onSuccess: onClose })}>
            Delete
          </Button>
        )
      }
    >
      <Fields>
        {!t && (
          <Select
            label="Category"
            name="category"
            hint="A category includes those below it."
            options={choices
              .filter((c) => kind(c.value) === "expense")
              .map((c) => [c.value, c.hint ? `${c.hint}: ${c.label}` : c.label])}
          />
        )}
        <Field
          label={t ? `A month, in ${t.iso_currency_code}` : "A month"}
          name="amount"
          inputMode="decimal"
          placeholder="400.00"
          autoComplete="off"
          defaultValue={t && String(t.amount)}
          fault={fault}
          required
        />
        {!t && (
          <Field
            label="Currency"
            name="currency"
            hint="The household’s, if you leave it empty."
            pattern="[A-Za-z]{3}"
            maxLength={3}
            autoComplete="off"
          />
        )}
        <Field label="First month" name="start" {...month_} defaultValue={t?.start_month ?? month} required />
        {t && (
          <Field
            label="Last month"
            name="end"
            {...month_}
            hint="No end, if you leave it empty."
            defaultValue={t.end_month ?? ""}
          />
        )}
        <Check
          label="Carry over"
          hint="What a month leaves, or overspends, counts in the next."
          name="rollover"
          defaultChecked={t?.rollover}
        />
      </Fields>
    </FormDialog>
  );
}
