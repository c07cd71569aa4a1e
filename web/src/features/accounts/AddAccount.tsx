import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createAccount, owed } from "#/api/accounts";
import type { Schemas } from "#/api/client";
import { overview } from "#/api/overview";
import { localDay } from "#/lib/dates";
import { text } from "#/lib/money";
import { typed } from "#/lib/typed";
import { type Filled, FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { AmountField } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { kindChoices, shapeOf } from "./kinds";
import { touched } from "./touched";

/** The button that adds an account without a bank connection. */
export function AddAccount() {
  const go = useNavigate();
  const members = useQuery(overview).data?.members ?? [];
  const [open, setOpen] = useState(false);
  const [kind, setKind] = useState<string>("cash");
  const [fault, setFault] = useState<string>();
  const today = localDay(new Date());
  const debt = owed(shapeOf(kind)?.type ?? "");
  const rows = shapeOf(kind)?.balance_method === "transactions";
  const add = useAction({
    act: (body: Schemas["CreateAccount"]) => createAccount(body),
    touches: touched,
    text: (_, v) => t`${{ account: v.name }} added`,
    change: (r) => r.change,
    quiet: true,
  });
  const close = () => {
    setOpen(false);
    setFault(undefined);
    add.reset();
  };
  const submit = (f: Filled) => {
    const balance = f.maybe("balance") === null ? undefined : typed(f.text("balance"));
    setFault(
      balance === null ? t`Enter an amount, for example 1500.00. Use a minus sign if it’s negative.` : undefined,
    );
    if (balance === null) return;
    add.mutate(
      {
        name: f.text("name"),
        kind: f.text("kind") as Schemas["CreateAccount"]["kind"],
        ...(f.maybe("currency") && { iso_currency_code: f.text("currency").toUpperCase() }),
        ...(f.maybe("owner") && { owner_user_id: f.text("owner") }),
        ...(f.maybe("institution") && { institution_name: f.text("institution") }),
        ...(balance !== undefined && { balance: Number(text(balance)), balance_date: f.text("day") }),
      },
      {
        onSuccess: (r) => {
          close();
          void go({ to: "/accounts/$id", params: { id: r.data.short_id }, search: {} });
        },
      },
    );
  };
  return (
    <>
      <Button icon="plus" onClick={() => setOpen(true)}>
        <Trans>Add manually…</Trans>
      </Button>
      <FormDialog
        open={open}
        onClose={close}
        title={t`Add account manually`}
        hint={t`For anything without a bank connection: cash, a house, a loan from a friend.`}
        act={t`Add account`}
        busy={add.isPending}
        error={add.error}
        onSubmit={submit}
      >
        <Fields>
          <Select
            label={t`Account type`}
            name="kind"
            value={kind}
            onChange={(e) => setKind(e.target.value)}
            options={kindChoices()}
            hint={
              rows
                ? t`The balance changes with the transactions you enter.`
                : t`The balance stays at the value you enter until you update it.`
            }
          />
          <Field label={t`Account name`} name="name" maxLength={200} autoComplete="off" required />
          <AmountField
            label={debt ? t`Amount owed (optional)` : rows ? t`Balance (optional)` : t`Value (optional)`}
            name="balance"
            example={150000n}
            fault={fault}
          />
          <Field label={t`As of`} name="day" type="date" max={today} defaultValue={today} required />
          <Field
            label={t`Currency`}
            name="currency"
            placeholder={t`Household currency`}
            pattern="[A-Za-z]{3}"
            maxLength={3}
            autoComplete="off"
          />
          <Field label={t`Bank (optional)`} name="institution" maxLength={200} autoComplete="off" />
          <Select
            label={t`Owner`}
            name="owner"
            options={[["", t`Me`], ...members.map((m) => [m.id, m.name] as const)]}
          />
        </Fields>
      </FormDialog>
    </>
  );
}
