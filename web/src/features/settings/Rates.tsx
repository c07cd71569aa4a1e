import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deleteRate, type Rate, rates, setRate } from "#/api/networth";
import { dayShort, localDay } from "#/lib/dates";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { toasts } from "#/ui/toasts";

const touches = ["settings", "accounts"] as const;

/** The household's own exchange rates. Nothing is fetched: what is not entered is not converted. */
export function Rates() {
  const list = useQuery(rates);
  const [asks, ask] = useState(false);
  const today = localDay(new Date());
  const again = useDeed({ act: setRate, touches, said: "The rate is back" });
  const remove = useDeed({
    act: async (r: Rate) => {
      await deleteRate(r.id);
      const { iso_currency_code, in: other, date, rate } = r;
      toasts.say({
        text: "The rate is removed",
        undo: () => again.mutate({ iso_currency_code, in: other, date, rate }),
      });
    },
    touches,
  });
  return (
    <Card
      title="Exchange rates"
      flush
      foot={
        <Button icon="plus" onClick={() => ask(true)}>
          Enter a rate
        </Button>
      }
    >
      {list.error && <Fault error={list.error} what="The rates" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={2} />}
      <Lines label="Exchange rates">
        {list.data?.rates.length === 0 && (
          <Item
            name="No rates yet"
            hint="With a rate for each currency, net worth is also shown in one. Coffer never fetches rates."
          />
        )}
        {list.data?.rates.map((r) => (
          <Item
            key={r.id}
            name={`1 ${r.iso_currency_code} = ${r.rate} ${r.in}`}
            hint={`From ${dayShort(r.date, today)} on`}
            end={
              <Button icon="trash" onClick={() => remove.mutate(r)} disabled={remove.isPending}>
                Remove
              </Button>
            }
          />
        ))}
      </Lines>
      {asks && <RateForm today={today} onClose={() => ask(false)} />}
    </Card>
  );
}

function RateForm({ today, onClose }: { today: string; onClose: () => void }) {
  const save = useDeed({ act: setRate, touches, said: "The rate is set", quiet: true });
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Enter a rate"
      hint="It holds from its day on, in both directions, until the next rate of the two."
      act="Set the rate"
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) =>
        save.mutate(
          {
            iso_currency_code: f.text("of").toUpperCase(),
            in: f.text("in").toUpperCase(),
            date: f.text("day"),
            rate: Number(f.text("rate").replace(",", ".")),
          },
          { onSuccess: onClose },
        )
      }
    >
      <Fields>
        <Field label="One" name="of" placeholder="USD" pattern="[A-Za-z]{3}" maxLength={3} required />
        <Field
          label="is worth"
          name="rate"
          placeholder="0.92"
          inputMode="decimal"
          pattern="[0-9]+([.,][0-9]{1,9})?"
          required
        />
        <Field label="in" name="in" placeholder="EUR" pattern="[A-Za-z]{3}" maxLength={3} required />
        <Field label="From" name="day" type="date" defaultValue={today} required />
      </Fields>
    </FormDialog>
  );
}
