import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { type Account, owed, setBalance } from "#/api/accounts";
import { dayShort, localDay } from "#/lib/dates";
import { type Cents, text } from "#/lib/money";
import { typed } from "#/lib/typed";
import { type Filled, FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { AmountField } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields } from "#/ui/Form";
import { touched } from "./touched";

/** The button that lets a person enter the account's balance at the end of a day. */
export function SetBalance({ account: a }: { account: Account }) {
  const [open, setOpen] = useState(false);
  const [fault, setFault] = useState<string>();
  const today = localDay(new Date());
  const currency = a.iso_currency_code;
  const set = useAction({
    act: (v: { day: string; current: Cents }) => setBalance(a.id, v.day, Number(text(v.current))),
    touches: touched,
    text: (_, v) => t`Balance for ${{ day: dayShort(v.day, today) }} saved`,
    change: (r) => r.change,
    quiet: true,
  });
  const close = () => {
    setOpen(false);
    setFault(undefined);
    set.reset();
  };
  const submit = (f: Filled) => {
    const current = typed(f.text("current"));
    setFault(
      current === null ? t`Enter an amount, for example 1500.00. Use a minus sign if it’s negative.` : undefined,
    );
    if (current !== null) set.mutate({ day: f.text("day"), current }, { onSuccess: close });
  };
  return (
    <>
      <Button icon="edit" onClick={() => setOpen(true)}>
        <Trans>Enter balance…</Trans>
      </Button>
      <FormDialog
        open={open}
        onClose={close}
        title={t`Enter balance`}
        hint={t`Overrides the bank and statement balance for that day. Agents can’t change it.`}
        act={t`Enter balance`}
        busy={set.isPending}
        error={set.error}
        onSubmit={submit}
      >
        <Fields>
          <Field label={t`Date`} name="day" type="date" max={today} defaultValue={today} required />
          <AmountField
            label={owed(a.type) ? t`Amount owed at end of day (${currency})` : t`Balance at end of day (${currency})`}
            name="current"
            example={150000n}
            fault={fault}
            required
          />
        </Fields>
      </FormDialog>
    </>
  );
}
