import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changeHousehold, type Household, household } from "#/api/settings";
import { hourName } from "#/lib/dates";
import { cents } from "#/lib/money";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { AmountField } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { limits } from "./notificationWords";

const hours = () => Array.from({ length: 24 }, (_, h) => [String(h), hourName(h)] as const);

/** The amounts from which transactions cause a notification, and when to remind people of the review. */
export function When() {
  const now = useQuery(household).data;
  const [asks, ask] = useState(false);
  return (
    <>
      <Button kind="quiet" disabled={!now} onClick={() => ask(true)}>
        <Trans>Notification rules</Trans>
      </Button>
      {asks && now && <Form now={now} onClose={() => ask(false)} />}
    </>
  );
}

function Form({ now, onClose }: { now: Household; onClose: () => void }) {
  const save = useAction({ act: changeHousehold, reauth: true, touches: ["settings"], text: t`Saved`, quiet: true });
  const large = now.large_charge.find((l) => l.iso_currency_code === now.default_currency);
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Notification rules`}
      act={t`Save`}
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) => {
        const hour = f.count("hour");
        save.mutate(
          {
            large_charge: limits(now.large_charge, now.default_currency, f.text("large")),
            review_digest: hour === null ? null : { hour, min_count: f.count("least") ?? 1 },
          },
          { onSuccess: onClose },
        );
      }}
    >
      <Fields>
        <AmountField
          label={t`Large transactions, from (${{ currency: now.default_currency }})`}
          name="large"
          checked
          amount={large && cents(large.amount)}
          hint={t`Leave blank to turn off.`}
        />
        <Select
          label={t`Daily review reminder at`}
          name="hour"
          defaultValue={now.review_digest ? String(now.review_digest.hour) : ""}
          options={[["", t({ message: "Off", context: "a reminder" })], ...hours()]}
        />
        <Field
          label={t`Only if at least this many are waiting`}
          name="least"
          type="number"
          min={1}
          max={100000}
          defaultValue={now.review_digest?.min_count ?? 1}
        />
      </Fields>
    </FormDialog>
  );
}
