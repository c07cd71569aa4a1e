import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { changeHousehold, type Household, household } from "#/api/settings";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { limits } from "./told";

const hours = Array.from({ length: 24 }, (_, h) => [String(h), `${String(h).padStart(2, "0")}:00`] as const);

/** From when on charges are told of, and what waits for review. */
export function When() {
  const now = useQuery(household).data;
  const [asks, ask] = useState(false);
  return (
    <>
      <Button kind="quiet" disabled={!now} onClick={() => ask(true)}>
        What is worth telling
      </Button>
      {asks && now && <Form now={now} onClose={() => ask(false)} />}
    </>
  );
}

function Form({ now, onClose }: { now: Household; onClose: () => void }) {
  const save = useDeed({ act: changeHousehold, proof: true, touches: ["settings"], said: "Saved", quiet: true });
  const large = now.large_charge.find((l) => l.iso_currency_code === now.default_currency);
  return (
    <FormDialog
      open
      onClose={onClose}
      title="What is worth telling"
      act="Save"
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
        <Field
          label={`Payments from … ${now.default_currency}`}
          name="large"
          inputMode="decimal"
          pattern="[0-9]{1,9}([.,][0-9]{1,2})?"
          title="For example 500"
          defaultValue={large ? String(large.amount) : ""}
          hint="Empty: no payment is told of for its size."
        />
        <Select
          label="What waits for review, each day from"
          name="hour"
          defaultValue={now.review_digest ? String(now.review_digest.hour) : ""}
          options={[["", "Never"], ...hours]}
        />
        <Field
          label="If at least … wait"
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
