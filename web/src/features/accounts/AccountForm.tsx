import { useQuery } from "@tanstack/react-query";
import { type Account, patchAccount } from "#/api/accounts";
import { overview } from "#/api/overview";
import { useDeed } from "#/parts/deed";
import { filled } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Check, Fields, Select } from "#/ui/Form";
import { kindChoices, kindIs, shapeOf } from "./kinds";
import { kindOf } from "./words";

const lowIs = (typed: string) => (typed === "" ? null : Number(typed.replace(",", ".")));

/** What the household decides about an account: its name, what it is, whose it is, and whether it is shown. */
export function AccountForm({ account: a }: { account: Account }) {
  const members = useQuery(overview).data?.members ?? [];
  const manual = a.provider === "manual";
  const own = manual || a.provider === "csv";
  const kind = kindIs(a);
  const holds = a.type !== "credit" && a.type !== "loan";
  const save = useDeed({
    act: (form: HTMLFormElement) => {
      const f = filled(form);
      const shape = f.text("kind") === kind ? undefined : shapeOf(f.text("kind"));
      return patchAccount(a.id, {
        ...(manual ? { name: f.text("name") } : { display_name: f.maybe("name") }),
        owner_user_id: f.maybe("owner"),
        hidden: f.has("hidden"),
        ...(own && f.maybe("institution") !== a.institution_name && { institution_name: f.maybe("institution") }),
        ...(f.maybe("closed") !== a.closed_on && { closed_on: f.maybe("closed") }),
        ...(holds && lowIs(f.text("low")) !== a.low_balance && { low_balance: lowIs(f.text("low")) }),
        ...shape,
      });
    },
    touches: ["accounts", "overview", "transactions", "cashflow", "changes"],
    said: "Saved",
    change: (r) => r.change,
  });
  return (
    <Card title="What you say of it">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          save.mutate(e.currentTarget);
        }}
      >
        <Fields>
          <Field
            label="Called"
            name="name"
            defaultValue={manual ? (a.display_name ?? a.name) : (a.display_name ?? "")}
            placeholder={a.name}
            maxLength={200}
            required={manual}
          />
          <Select
            label="What it is"
            name="kind"
            defaultValue={kind ?? ""}
            options={kind ? kindChoices : [["", `${kindOf(a)}, as the bank says`], ...kindChoices]}
          />
          {own && <Field label="Bank" name="institution" defaultValue={a.institution_name ?? ""} maxLength={200} />}
          <Select
            label="Whose"
            name="owner"
            defaultValue={a.owner_user_id ?? ""}
            options={[
              ["", manual ? "Nobody's" : "Whoever linked the bank"],
              ...members.map((m) => [m.id, m.name] as const),
            ]}
          />
          <Field
            label="Closed on"
            name="closed"
            type="date"
            defaultValue={a.closed_on ?? ""}
            hint="Its last day; from the next day on nothing is in it"
          />
          {holds && (
            <Field
              label="Low below"
              name="low"
              inputMode="decimal"
              pattern="-?[0-9]{1,9}([.,][0-9]{1,2})?"
              title="For example 100"
              defaultValue={a.low_balance === null ? "" : String(a.low_balance)}
              hint={
                a.balance_today === null
                  ? "It has no balance yet, so no notification can tell when it falls below this"
                  : "Notifications tell when its balance falls below this"
              }
            />
          )}
          <Check
            label="Hide it"
            name="hidden"
            defaultChecked={a.hidden}
            hint="Its payments and its balance are left out of lists and sums"
          />
          <span>
            <Button type="submit" disabled={save.isPending}>
              Save
            </Button>
          </span>
        </Fields>
      </form>
    </Card>
  );
}
