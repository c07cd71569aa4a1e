import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import { correct, createPayment, payee, type Transaction } from "#/api/transactions";
import { localDay } from "#/lib/dates";
import { abs, cents, text, typed } from "#/lib/money";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { useDeed } from "./deed";
import { type Filled, FormDialog } from "./FormDialog";

const touches = ["transactions", "accounts", "overview", "cashflow", "changes", "review"] as const;

/** Cash comes first, because what is written down is mostly paid with it; then what payments are made from. */
const rank = (a: { provider: string; type: string }) =>
  (a.type === "depository" ? 0 : a.type === "credit" ? 2 : 4) + (a.provider === "manual" ? 0 : 1);

/** Writes a payment down, or corrects one that was written down: the amount first, because it is what one knows. */
export function PaymentForm({ of: t, account, onClose }: { of?: Transaction; account?: string; onClose: () => void }) {
  const all = (useQuery(accounts).data ?? [])
    .filter((a) => !a.hidden && !a.closed_on)
    .sort((a, b) => rank(a) - rank(b));
  const [fault, setFault] = useState<string>();
  const today = localDay(new Date());
  const save = useDeed({
    act: (f: { account: string; amount: number; date: string; name: string; detail: string | null }) =>
      t
        ? correct(t.id, { amount: f.amount, date: f.date, name: f.name, detail: f.detail })
        : createPayment({
            account_id: f.account,
            amount: f.amount,
            date: f.date,
            name: f.name,
            ...(f.detail && { detail: f.detail }),
          }),
    touches,
    said: (r) => (t ? "Corrected" : r.data.excluded ? "Added; the bank's own counts" : `${payee(r.data)} is added`),
    change: (r) => r.change,
    quiet: true,
  });
  const submit = (f: Filled) => {
    const amount = typed(f.text("amount"));
    const good = amount !== null && amount > 0n;
    setFault(good ? undefined : "Write an amount such as 12.50.");
    if (!good) return;
    save.mutate(
      {
        account: f.text("account"),
        amount: Number(text(f.text("way") === "in" ? -amount : amount)),
        date: f.text("date"),
        name: f.text("name"),
        detail: f.maybe("detail"),
      },
      { onSuccess: onClose },
    );
  };
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t ? "Correct this payment" : "Add a payment"}
      hint={t ? undefined : "For cash, and for what the bank has not told yet. If it comes later, it counts once."}
      act={t ? "Save it" : "Add the payment"}
      busy={save.isPending}
      error={save.error}
      onSubmit={submit}
    >
      <Fields>
        <Field
          label="Amount"
          name="amount"
          inputMode="decimal"
          placeholder="12.50"
          autoComplete="off"
          defaultValue={t && text(abs(cents(t.amount)))}
          fault={fault}
          required
        />
        <Select
          label="Which way"
          name="way"
          defaultValue={t && t.amount < 0 ? "in" : "out"}
          options={[
            ["out", "Money out"],
            ["in", "Money in"],
          ]}
        />
        <Field label="To or from whom" name="name" maxLength={256} autoComplete="off" defaultValue={t?.name} required />
        {!t && (
          <Select
            key={all.length}
            label="Account"
            name="account"
            defaultValue={account ?? all[0]?.id}
            options={all.map((a) => [a.id, accountName(a)] as const)}
          />
        )}
        <Field label="Day" name="date" type="date" defaultValue={t?.date ?? today} required />
        <Field
          label="What it was for, if you like"
          name="detail"
          maxLength={512}
          autoComplete="off"
          defaultValue={t?.detail ?? ""}
        />
      </Fields>
    </FormDialog>
  );
}
