import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type Account, patchAccount } from "#/api/accounts";
import { overview } from "#/api/overview";
import { cents } from "#/lib/money";
import { enteredManually, fromFiles } from "#/lib/provider";
import { amountOf } from "#/lib/typed";
import { filled } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { AmountField } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Check, Fields, Note, Select } from "#/ui/Form";
import { kindChoices, kindIs, shapeOf } from "./kinds";
import { unsetKind } from "./words";

/** The settings of an account that the household can change: name, type, owner, and whether it is shown. */
export function AccountForm({ account: a }: { account: Account }) {
  const members = useQuery(overview).data?.members ?? [];
  const manual = enteredManually(a);
  const own = manual || fromFiles(a);
  const kind = kindIs(a);
  const holds = a.type !== "credit" && a.type !== "loan";
  const save = useAction({
    act: (form: HTMLFormElement) => {
      const f = filled(form);
      const shape = f.text("kind") === kind && !a.type_guessed ? undefined : shapeOf(f.text("kind"));
      return patchAccount(a.id, {
        ...(manual ? { name: f.text("name") } : { display_name: f.maybe("name") }),
        owner_user_id: f.maybe("owner"),
        hidden: f.has("hidden"),
        ...(own && f.maybe("institution") !== a.institution_name && { institution_name: f.maybe("institution") }),
        ...(f.maybe("closed") !== a.closed_on && { closed_on: f.maybe("closed") }),
        ...(holds && amountOf(f.text("low")) !== a.low_balance && { low_balance: amountOf(f.text("low")) }),
        ...shape,
      });
    },
    touches: ["accounts", "overview", "transactions", "cashflow", "changes"],
    text: t`Saved`,
    change: (r) => r.change,
  });
  return (
    <Card title={t`Settings`}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          save.mutate(e.currentTarget);
        }}
      >
        <Fields>
          <Field
            label={t`Name`}
            name="name"
            defaultValue={manual ? (a.display_name ?? a.name) : (a.display_name ?? "")}
            placeholder={a.name}
            maxLength={200}
            required={manual}
          />
          {a.type_guessed && (
            <Note mood="warn">
              {t`Your bank doesn’t say what kind of account this is. Choose the right type and save; coffer won’t ask again.`}
            </Note>
          )}
          <Select
            label={t`Type`}
            name="kind"
            defaultValue={kind ?? ""}
            options={kind ? kindChoices() : [["", unsetKind(a)], ...kindChoices()]}
          />
          {own && <Field label={t`Bank`} name="institution" defaultValue={a.institution_name ?? ""} maxLength={200} />}
          <Select
            label={t`Owner`}
            name="owner"
            defaultValue={a.owner_user_id ?? ""}
            options={[
              ["", manual ? t`No owner` : t`Person who connected the bank`],
              ...members.map((m) => [m.id, m.name] as const),
            ]}
          />
          <Field
            label={t`Closed on`}
            name="closed"
            type="date"
            defaultValue={a.closed_on ?? ""}
            hint={t`The balance is zero after this day`}
          />
          {holds && (
            <AmountField
              label={t`Low balance alert`}
              name="low"
              checked
              amount={a.low_balance === null ? null : cents(a.low_balance)}
              hint={
                a.balance_today === null
                  ? t`Add a balance first to get low balance notifications`
                  : t`Get notified when the balance drops below this`
              }
            />
          )}
          <Check
            label={t`Hide account`}
            name="hidden"
            defaultChecked={a.hidden}
            hint={t`Leaves its transactions and balance out of lists and totals`}
          />
          <span>
            <Button type="submit" disabled={save.isPending}>
              <Trans>Save</Trans>
            </Button>
          </span>
        </Fields>
      </form>
    </Card>
  );
}
