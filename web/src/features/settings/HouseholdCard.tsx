import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changeHousehold, type Household, household } from "#/api/settings";
import { draftWaits } from "#/lib/drafts";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { every, hours, retention, zones } from "./words";

const reviewed = (): Record<Household["review_history"], string> => ({
  from_link: t`Only from the day an account is added`,
  all: t`All transactions, including history`,
});

const paid = (): Record<Household["paid_balances"], string> => ({
  manual: t`On request`,
  daily: t`Daily and on request`,
  never: t`Never`,
});

export function HouseholdCard() {
  const list = useQuery(household);
  const [asks, ask] = useState(() => draftWaits("household"));
  const now = list.data;
  return (
    <Card
      title={t`General`}
      foot={
        now && (
          <Button icon="edit" onClick={() => ask(true)}>
            <Trans>Edit</Trans>
          </Button>
        )
      }
    >
      {list.error && <Fault error={list.error} what={t`general settings`} retry={() => void list.refetch()} />}
      {!now && !list.error && <Skeleton rows={4} />}
      {now && (
        <Facts
          facts={[
            [t`Name`, <bdi key="name">{now.household_name}</bdi>],
            [t`Currency`, now.default_currency],
            [t`Time zone`, now.time_zone],
            [t`Review`, reviewed()[now.review_history]],
            [t`Sync frequency`, every(now.default_sync_interval_seconds)],
            [t`Paid balance refreshes`, paid()[now.paid_balances]],
            [t`Sync log retention`, retention(now.retention_days)],
          ]}
        />
      )}
      {now && asks && <HouseholdForm now={now} onClose={() => ask(false)} />}
    </Card>
  );
}

function HouseholdForm({ now, onClose }: { now: Household; onClose: () => void }) {
  const save = useAction({
    act: changeHousehold,
    reauth: true,
    touches: ["settings", "overview"],
    text: t`Saved`,
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Edit general settings`}
      act={t`Save`}
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
        <Field label={t`Name`} name="name" defaultValue={now.household_name} required maxLength={100} />
        <Field
          label={t`Currency`}
          name="currency"
          defaultValue={now.default_currency}
          required
          pattern="[A-Za-z]{3}"
          maxLength={3}
          hint={t`Three-letter code, for example EUR. Used for files without a currency.`}
        />
        <Select
          label={t`Time zone`}
          name="zone"
          defaultValue={now.time_zone}
          options={zones(now.time_zone).map((z) => [z, z.replaceAll("_", " ")])}
          hint={t`Sets when days and months start.`}
        />
        <Select
          label={t`Review`}
          name="review"
          defaultValue={now.review_history}
          options={Object.entries(reviewed())}
          hint={t`Which transactions go to Review when you connect a bank or import a statement.`}
        />
        <Select
          label={t`Paid balance refreshes`}
          name="paid"
          defaultValue={now.paid_balances}
          options={Object.entries(paid())}
          hint={t`Regular syncs include free balances. Live refreshes may be billed by your provider. Agents can’t request them.`}
        />
        <Field
          label={t`Sync banks every (hours)`}
          name="hours"
          type="number"
          min={0.25}
          max={720}
          step="0.25"
          defaultValue={hours(now.default_sync_interval_seconds)}
        />
        <Field
          label={t`Keep sync logs for (days)`}
          name="days"
          type="number"
          min={1}
          max={3650}
          defaultValue={now.retention_days ?? ""}
          hint={t`Leave blank to keep forever. Transactions and activity are always kept.`}
        />
      </Fields>
    </FormDialog>
  );
}
