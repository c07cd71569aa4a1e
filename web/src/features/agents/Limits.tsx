import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type AgentLimits, agentLimits, changeAgentLimits } from "#/api/settings";
import { draftWaits } from "#/lib/drafts";
import { cents, money } from "#/lib/money";
import { amountOf } from "#/lib/typed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { AmountField } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Check, Fields } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { changes, quiet } from "./agents";

const dollars = (n: number | null) => (n === null ? t`No limit` : t`${{ amount: money(cents(n), "USD") }} per month`);

/** The limits of all agents combined. */
export function Limits({ admin }: { admin: boolean }) {
  const list = useQuery(agentLimits);
  const [asks, ask] = useState(() => draftWaits("limits"));
  const now = list.data;
  return (
    <Card
      title={t`Limits for all agents`}
      foot={
        admin &&
        now && (
          <Button icon="edit" onClick={() => ask(true)}>
            <Trans>Edit limits</Trans>
          </Button>
        )
      }
    >
      {list.error && <Fault error={list.error} what={t`limits`} retry={() => void list.refetch()} />}
      {!now && !list.error && <Skeleton rows={3} />}
      {now && (
        <Facts
          facts={[
            [t`Daily limit`, now.writes_per_day === null ? t`No combined limit` : changes(now.writes_per_day)],
            [t`AI spending`, dollars(now.monthly_ceiling_usd)],
            [t`Rules`, now.propose_rules ? t`Suggest only` : t`Can create rules`],
            [t`Quiet hours`, now.quiet_hours ? `${now.quiet_hours.start}–${now.quiet_hours.end}` : t`None`],
          ]}
        />
      )}
      {now && asks && <LimitsForm now={now} onClose={() => ask(false)} />}
    </Card>
  );
}

function LimitsForm({ now, onClose }: { now: AgentLimits; onClose: () => void }) {
  const save = useAction({
    act: changeAgentLimits,
    reauth: true,
    touches: ["settings"],
    text: t`Saved`,
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Limits for all agents`}
      hint={t`Applies to all agent keys and assistants combined.`}
      act={t`Save`}
      draft="limits"
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) =>
        save.mutate(
          {
            writes_per_day: f.count("writes"),
            monthly_ceiling_usd: amountOf(f.text("ceiling")),
            quiet_hours: quiet(f.maybe("start"), f.maybe("end")),
            propose_rules: f.has("propose"),
          },
          { onSuccess: onClose },
        )
      }
    >
      <Fields wide>
        <Field
          label={t`Changes per day`}
          name="writes"
          type="number"
          min={0}
          max={1_000_000}
          defaultValue={now.writes_per_day ?? ""}
          hint={t`Each transaction, tag, balance or other record counts as one change. Leave blank for no limit.`}
        />
        <AmountField
          label={t`AI spending per month (USD)`}
          name="ceiling"
          checked
          amount={now.monthly_ceiling_usd === null ? null : cents(now.monthly_ceiling_usd)}
          hint={t`Leave blank for no limit.`}
        />
        <Field label={t`Quiet hours start`} name="start" type="time" defaultValue={now.quiet_hours?.start} />
        <Field
          label={t`Quiet hours end`}
          name="end"
          type="time"
          defaultValue={now.quiet_hours?.end}
          hint={t`Scheduled workflows don’t start during quiet hours.`}
        />
      </Fields>
      <Check
        label={t`Agents can only suggest rules`}
        name="propose"
        value="on"
        defaultChecked={now.propose_rules}
        hint={t`Suggested rules are inactive until someone accepts them.`}
      />
    </FormDialog>
  );
}
