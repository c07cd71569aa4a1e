import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import { correct, createPayment, payee, type Transaction } from "#/api/transactions";
import { localDay } from "#/lib/dates";
import { abs, cents, text } from "#/lib/money";
import { typed } from "#/lib/typed";
import { AmountField } from "#/ui/AmountField";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { useDeed } from "./deed";
import { type Filled, FormDialog } from "./FormDialog";

const touches = ["transactions", "accounts", "overview", "cashflow", "changes", "review"] as const;

/** Cash comes first, because most transactions that are added manually are paid with it; then accounts to pay from. */
const rank = (a: { provider: string; type: string }) =>
  (a.type === "depository" ? 0 : a.type === "credit" ? 2 : 4) + (a.provider === "manual" ? 0 : 1);

/** Adds a transaction, or edits one that was added manually: the amount first, because it is what people know. */
export function PaymentForm({
  of: row,
  account,
  onClose,
}: {
  of?: Transaction;
  account?: string;
  onClose: () => void;
}) {
  const all = (useQuery(accounts).data ?? [])
    .filter((a) => !a.hidden && !a.closed_on)
    .sort((a, b) => rank(a) - rank(b));
  const [fault, setFault] = useState<string>();
  const today = localDay(new Date());
  const save = useDeed({
    act: (f: { account: string; amount: number; date: string; name: string; detail: string | null }) =>
      row
        ? correct(row.id, { amount: f.amount, date: f.date, name: f.name, detail: f.detail })
        : createPayment({
            account_id: f.account,
            amount: f.amount,
            date: f.date,
            name: f.name,
            ...(f.detail && { detail: f.detail }),
          }),
    touches,
    said: (r) => {
      if (row) return t`Transaction updated`;
      return r.data.excluded ? t`Added and matched with the bank’s` : t`${{ payee: payee(r.data) }} added`;
    },
    change: (r) => r.change,
    quiet: true,
  });
  const submit = (f: Filled) => {
    const amount = typed(f.text("amount"));
    const good = amount !== null && amount > 0n;
    setFault(good ? undefined : t`Enter an amount, for example 12.50.`);
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
      title={row ? t`Edit transaction` : t`Add transaction`}
      hint={
        row ? undefined : t`For cash, or something the bank hasn’t posted yet. If it arrives later, it counts once.`
      }
      act={row ? t`Save` : t`Add transaction`}
      busy={save.isPending}
      error={save.error}
      onSubmit={submit}
    >
      <Fields>
        <AmountField
          label={t`Amount`}
          name="amount"
          example={1250n}
          amount={row && abs(cents(row.amount))}
          fault={fault}
          required
        />
        <Select
          label={t`Direction`}
          name="way"
          defaultValue={row && row.amount < 0 ? "in" : "out"}
          options={[
            ["out", t`Money out`],
            ["in", t`Money in`],
          ]}
        />
        <Field label={t`Payee`} name="name" maxLength={256} autoComplete="off" defaultValue={row?.name} required />
        {!row && (
          <Select
            key={all.length}
            label={t`Account`}
            name="account"
            defaultValue={account ?? all[0]?.id}
            options={all.map((a) => [a.id, accountName(a)] as const)}
          />
        )}
        <Field label={t`Date`} name="date" type="date" defaultValue={row?.date ?? today} required />
        <Field
          label={t`Memo (optional)`}
          name="detail"
          maxLength={512}
          autoComplete="off"
          defaultValue={row?.detail ?? ""}
        />
      </Fields>
    </FormDialog>
  );
}
