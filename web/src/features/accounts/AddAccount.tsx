import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createAccount, owed } from "#/api/accounts";
import type { Schemas } from "#/api/client";
import { overview } from "#/api/overview";
import { localDay } from "#/lib/dates";
import { text, typed } from "#/lib/money";
import { useDeed } from "#/parts/deed";
import { type Filled, FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { kindChoices, shapeOf } from "./kinds";
import { touched } from "./SetBalance";

/** The button that adds an account which no bank keeps. */
export function AddAccount() {
  const go = useNavigate();
  const members = useQuery(overview).data?.members ?? [];
  const [open, setOpen] = useState(false);
  const [kind, setKind] = useState<string>("cash");
  const [fault, setFault] = useState<string>();
  const today = localDay(new Date());
  const debt = owed(shapeOf(kind)?.type ?? "");
  const rows = shapeOf(kind)?.balance_method === "transactions";
  const add = useDeed({
    act: (body: Schemas["CreateAccount"]) => createAccount(body),
    touches: touched,
    said: (_, v) => `${v.name} is added`,
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
    setFault(balance === null ? "Write an amount such as 1500.00, with a minus if it is below zero." : undefined);
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
        Add one by hand…
      </Button>
      <FormDialog
        open={open}
        onClose={close}
        title="Add an account by hand"
        hint="For what no bank tells coffer: cash, a house, a loan from friends."
        act="Add the account"
        busy={add.isPending}
        error={add.error}
        onSubmit={submit}
      >
        <Fields>
          <Select
            label="What it is"
            name="kind"
            value={kind}
            onChange={(e) => setKind(e.target.value)}
            options={kindChoices}
            hint={
              rows
                ? "Its balance follows from the payments that you enter."
                : "It is worth what you last said it is; payments do not change that."
            }
          />
          <Field label="Called" name="name" maxLength={200} autoComplete="off" required />
          <Field
            label={debt ? "Owed, if you know" : rows ? "In it, if you know" : "Worth, if you know"}
            name="balance"
            inputMode="decimal"
            placeholder="1500.00"
            autoComplete="off"
            fault={fault}
          />
          <Field label="When that day was over" name="day" type="date" max={today} defaultValue={today} required />
          <Field
            label="Currency"
            name="currency"
            placeholder="the household's, or three letters"
            pattern="[A-Za-z]{3}"
            maxLength={3}
            autoComplete="off"
          />
          <Field label="Bank, if there is one" name="institution" maxLength={200} autoComplete="off" />
          <Select label="Whose" name="owner" options={[["", "Mine"], ...members.map((m) => [m.id, m.name] as const)]} />
        </Fields>
      </FormDialog>
    </>
  );
}
