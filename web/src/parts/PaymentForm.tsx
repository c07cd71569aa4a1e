import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { staleAfter } from "#/api/client";
import { session } from "#/api/session";
import { correct, createPayment, payee, type Transaction } from "#/api/transactions";
import { localDay } from "#/lib/dates";
import { abs, cents, text } from "#/lib/money";
import { typed } from "#/lib/typed";
import { AmountField } from "#/ui/AmountField";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { ask, named, type Payee, usual } from "./addKnown";
import { lastUsed, remember } from "./addQueue";
import { type Filled, FormDialog } from "./FormDialog";
import { useAction } from "./useAction";

const touches = ["transactions", "accounts", "overview", "cashflow", "changes", "review"] as const;

/** The category and account that usually go with a payee. The page /add uses the same data. */
const usually = (user: string) => ({
  queryKey: ["accounts", "usual", user],
  queryFn: async () => ({ ...(await ask(user)), last: await lastUsed(user) }),
  staleTime: staleAfter.minute,
});

/** Adds a transaction, or edits one that was added manually. The amount comes first, because it is what people know. */
export function PaymentForm({
  of: row,
  account,
  onClose,
}: {
  of?: Transaction;
  account?: string;
  onClose: () => void;
}) {
  const me = useQuery(session).data?.user?.id ?? "";
  const suggestions = useQuery({ ...usually(me), enabled: !row && me !== "" });
  const known = suggestions.data;
  const all = known?.accounts ?? [];
  const here = account && !all.some((a) => a.id === account) ? [[account, t`This account`] as const] : [];
  const names = useId();
  // The payee fills in the category and the account, unless the person has picked them.
  const [of, setOf] = useState<Payee>();
  const [picked, setPicked] = useState<{ category?: string; account?: string }>({ account });
  const [fault, setFault] = useState<string>();
  const today = localDay(new Date());
  const save = useAction({
    act: (f: {
      account: string;
      amount: number;
      date: string;
      name: string;
      category: string | null;
      detail: string | null;
    }) =>
      row
        ? correct(row.id, { amount: f.amount, date: f.date, name: f.name, detail: f.detail })
        : createPayment({
            account_id: f.account,
            amount: f.amount,
            date: f.date,
            payee: f.name,
            ...(f.category && { category: f.category }),
            ...(f.detail && { detail: f.detail }),
          }),
    touches,
    text: (r) => {
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
        category: row ? null : f.maybe("category"),
        detail: f.maybe("detail"),
      },
      {
        onSuccess: (_, added) => {
          if (known) void remember(me, { ...known, last: added.account }).catch(() => {});
          onClose();
        },
      },
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
      error={save.error ?? suggestions.error}
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
        <Field
          label={t`Payee`}
          name="name"
          maxLength={256}
          autoComplete="off"
          defaultValue={row?.name}
          list={row ? undefined : names}
          onChange={(e) => setOf(named(known?.payees ?? [], e.target.value))}
          required
        />
        {!row && (
          <>
            <datalist id={names}>
              {known?.payees.map((p) => (
                <option key={p.name} value={p.name} />
              ))}
            </datalist>
            <Select
              label={t`Category`}
              name="category"
              value={picked.category ?? of?.category ?? ""}
              onChange={(e) => setPicked((p) => ({ ...p, category: e.target.value }))}
              options={[
                ["", t`Automatic`],
                ...(known?.categories ?? []).flatMap((c) => [
                  [c.slug, c.name] as const,
                  ...c.children.map((x) => [x.slug, `${c.name}: ${x.name}`] as const),
                ]),
              ]}
            />
            <Select
              label={t`Account`}
              name="account"
              value={picked.account ?? of?.account ?? (known && usual(known)?.id) ?? ""}
              onChange={(e) => setPicked((p) => ({ ...p, account: e.target.value }))}
              options={[...here, ...all.map((a) => [a.id, a.name] as const)]}
              required
            />
          </>
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
