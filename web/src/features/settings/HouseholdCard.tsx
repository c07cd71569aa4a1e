import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changeHousehold, type Household, household } from "#/api/settings";
import { draftWaits } from "#/lib/drafts";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { every, hours, kept, zones } from "./words";

const reviewed: Record<Household["review_history"], string> = {
  from_link: "New payments",
  all: "New payments and older ones",
};

const paid: Record<Household["paid_balances"], string> = {
  manual: "When somebody asks for it",
  daily: "Once a day for each bank, and when somebody asks",
  never: "Never",
};

export function HouseholdCard() {
  const list = useQuery(household);
  const [asks, ask] = useState(() => draftWaits("household"));
  const now = list.data;
  return (
    <Card
      title="Household"
      foot={
        now && (
          <Button icon="edit" onClick={() => ask(true)}>
            Change household
          </Button>
        )
      }
    >
      {list.error && <Fault error={list.error} what="The household" retry={() => void list.refetch()} />}
      {!now && !list.error && <Bones rows={4} />}
      {now && (
        <Facts
          facts={[
            ["Name", <bdi key="name">{now.household_name}</bdi>],
            ["Currency", now.default_currency],
            ["Time zone", now.time_zone],
            ["To review", reviewed[now.review_history]],
            ["Banks are read", every(now.default_sync_interval_seconds)],
            ["Balances that may cost money", paid[now.paid_balances]],
            ["Sync logs are kept", kept(now.retention_days)],
          ]}
        />
      )}
      {now && asks && <HouseholdForm now={now} onClose={() => ask(false)} />}
    </Card>
  );
}

function HouseholdForm({ now, onClose }: { now: Household; onClose: () => void }) {
  const save = useDeed({
    act: changeHousehold,
    proof: true,
    touches: ["settings", "overview"],
    said: "Saved",
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Household"
      act="Save"
      draft="household"
      wide
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) =>
        save.mutate(
          {
            household_name: f.text("name"),
            default_currency: f.text("currency").toUpperCase(),
            time_zone: f.text("zone"),
            review_history: f.text("review") as Household["review_history"],
            default_sync_interval_seconds: Math.round((f.count("hours") ?? 6) * 3600),
            paid_balances: f.text("paid") as Household["paid_balances"],
            retention_days: f.count("days"),
          },
          { onSuccess: onClose },
        )
      }
    >
      <Fields wide>
        <Field label="Name" name="name" defaultValue={now.household_name} required maxLength={100} />
        <Field
          label="Currency"
          name="currency"
          defaultValue={now.default_currency}
          required
          pattern="[A-Za-z]{3}"
          maxLength={3}
          hint="Three letters, such as EUR. For files that do not say theirs."
        />
        <Select
          label="Time zone"
          name="zone"
          defaultValue={now.time_zone}
          options={zones(now.time_zone).map((z) => [z, z.replaceAll("_", " ")])}
          hint="When days and months begin."
        />
        <Select
          label="To review"
          name="review"
          defaultValue={now.review_history}
          options={Object.entries(reviewed)}
          hint="Whether payments from before a bank was linked wait for a look too."
        />
        <Select
          label="Balances that may cost money"
          name="paid"
          defaultValue={now.paid_balances}
          options={Object.entries(paid)}
          hint="Syncs bring balances for nothing. When a bank looks one up now, your provider may charge for it. Agents never can."
        />
        <Field
          label="Read banks every … hours"
          name="hours"
          type="number"
          min={0.25}
          max={720}
          step="0.25"
          defaultValue={hours(now.default_sync_interval_seconds)}
        />
        <Field
          label="Keep sync logs for … days"
          name="days"
          type="number"
          min={1}
          max={3650}
          defaultValue={now.retention_days ?? ""}
          hint="Empty: for ever. Payments and the activity are always kept."
        />
      </Fields>
    </FormDialog>
  );
}
