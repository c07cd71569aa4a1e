import { useState } from "react";
import { type Account, owed, setBalance } from "#/api/accounts";
import { dayShort, localDay } from "#/lib/dates";
import { type Cents, text, typed } from "#/lib/money";
import { useDeed } from "#/parts/deed";
import { type Filled, FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields } from "#/ui/Form";

/** The nouns that a balance shows in. */
export const touched = ["accounts", "overview", "changes"] as const;

/** The button that asks for a day and what the account stood at when it was over. */
export function SetBalance({ account: a }: { account: Account }) {
  const [open, setOpen] = useState(false);
  const [fault, setFault] = useState<string>();
  const today = localDay(new Date());
  const set = useDeed({
    act: (v: { day: string; current: Cents }) => setBalance(a.id, v.day, Number(text(v.current))),
    touches: touched,
    said: (_, v) => `The balance of ${dayShort(v.day, today)} is set`,
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
    setFault(current === null ? "Write an amount such as 1500.00, with a minus if it is below zero." : undefined);
    if (current !== null) set.mutate({ day: f.text("day"), current }, { onSuccess: close });
  };
  return (
    <>
      <Button icon="edit" onClick={() => setOpen(true)}>
        Set the balance…
      </Button>
      <FormDialog
        open={open}
        onClose={close}
        title="Set the balance"
        hint="It prevails over what the bank and statements say of that day, and agents leave it as it is."
        act="Set the balance"
        busy={set.isPending}
        error={set.error}
        onSubmit={submit}
      >
        <Fields>
          <Field label="Day" name="day" type="date" max={today} defaultValue={today} required />
          <Field
            label={`${owed(a.type) ? "Owed" : "Balance"} when the day was over, in ${a.iso_currency_code}`}
            name="current"
            inputMode="decimal"
            placeholder="1500.00"
            autoComplete="off"
            fault={fault}
            required
          />
        </Fields>
      </FormDialog>
    </>
  );
}
