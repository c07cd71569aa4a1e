import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { deleteRate, type Rate, rates, setRate } from "#/api/networth";
import { dayShort, localDay } from "#/lib/dates";
import { plainRate } from "#/lib/money";
import { plain } from "#/lib/typed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { toasts } from "#/ui/toasts";

const touches = ["settings", "accounts"] as const;

/** The household's own exchange rates. coffer fetches none: without a rate, a currency is not converted. */
export function Rates() {
  const list = useQuery(rates);
  const [asks, ask] = useState(false);
  const today = localDay(new Date());
  const again = useAction({ act: setRate, touches, text: t`Rate restored` });
  const remove = useAction({
    act: async (r: Rate) => {
      await deleteRate(r.id);
      const { iso_currency_code, in: other, date, rate } = r;
      toasts.say({
        text: t`Rate removed`,
        undo: () => again.mutate({ iso_currency_code, in: other, date, rate }),
      });
    },
    touches,
  });
  return (
    <Card
      title={t`Exchange rates`}
      flush
      foot={
        <Button icon="plus" onClick={() => ask(true)}>
          <Trans>Add rate</Trans>
        </Button>
      }
    >
      {list.error && <Fault error={list.error} what={t`exchange rates`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={2} />}
      <Lines label={t`Exchange rates`}>
        {list.data?.rates.length === 0 && (
          <Item
            name={t`No exchange rates`}
            hint={t`Add rates to see your net worth in one currency. coffer doesn’t fetch rates.`}
          />
        )}
        {list.data?.rates.map((r) => (
          <Item
            key={r.id}
            name={`1 ${r.iso_currency_code} = ${plainRate(r.rate)} ${r.in}`}
            hint={t`From ${{ day: dayShort(r.date, today) }}`}
            end={
              <Button icon="trash" onClick={() => remove.mutate(r)} disabled={remove.isPending}>
                <Trans>Remove</Trans>
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
  const save = useAction({ act: setRate, touches, text: t`Rate added`, quiet: true });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Add rate`}
      hint={t`Used in both directions from this date until you add a newer one.`}
      act={t`Add rate`}
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) =>
        save.mutate(
          {
            iso_currency_code: f.text("of").toUpperCase(),
            in: f.text("in").toUpperCase(),
            date: f.text("day"),
            rate: Number(plain(f.text("rate"), 9)),
          },
          { onSuccess: onClose },
        )
      }
    >
      <Fields>
        <Field label={t`1 unit of`} name="of" placeholder="USD" pattern="[A-Za-z]{3}" maxLength={3} required />
        <Field
          label={t`equals`}
          name="rate"
          placeholder={plainRate(0.92)}
          inputMode="decimal"
          pattern="[0-9.,'’ ]*[0-9]"
          required
          onBlur={(e) => {
            const rate = plain(e.currentTarget.value, 9);
            if (rate !== null) e.currentTarget.value = plainRate(Number(rate));
          }}
        />
        <Field label={t`in`} name="in" placeholder="EUR" pattern="[A-Za-z]{3}" maxLength={3} required />
        <Field label={t`Effective from`} name="day" type="date" defaultValue={today} required />
      </Fields>
    </FormDialog>
  );
}
