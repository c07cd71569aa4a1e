import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type AgentLimits, agentLimits, changeAgentLimits } from "#/api/settings";
import { draftWaits } from "#/lib/drafts";
import { cents, money } from "#/lib/money";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Check, Fields } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { quiet } from "./agents";

const dollars = (n: number | null) => (n === null ? "No ceiling" : `${money(cents(n), "USD")} a month`);

/** What all agents together may do. */
export function Limits({ admin }: { admin: boolean }) {
  const list = useQuery(agentLimits);
  const [asks, ask] = useState(() => draftWaits("limits"));
  const now = list.data;
  return (
    <Card
      title="For all agents"
      foot={
        admin &&
        now && (
          <Button icon="edit" onClick={() => ask(true)}>
            Change limits
          </Button>
        )
      }
    >
      {list.error && <Fault error={list.error} what="The limits" retry={() => void list.refetch()} />}
      {!now && !list.error && <Bones rows={3} />}
      {now && (
        <Facts
          facts={[
            ["Daily limit", now.writes_per_day === null ? "None together" : `${now.writes_per_day} payments`],
            ["Model costs", dollars(now.monthly_ceiling_usd)],
            ["Rules", now.propose_rules ? "They propose, a person accepts" : "They make their own"],
            ["Quiet hours", now.quiet_hours ? `${now.quiet_hours.start} to ${now.quiet_hours.end}` : "None"],
          ]}
        />
      )}
      {now && asks && <LimitsForm now={now} onClose={() => ask(false)} />}
    </Card>
  );
}

function LimitsForm({ now, onClose }: { now: AgentLimits; onClose: () => void }) {
  const save = useDeed({
    act: changeAgentLimits,
    proof: true,
    touches: ["settings"],
    said: "Limits saved",
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Limits for all agents"
      hint="They hold for keys of agents and for assistants together, whatever each alone may do."
      act="Save limits"
      draft="limits"
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) =>
        save.mutate(
          {
            writes_per_day: f.count("writes"),
            monthly_ceiling_usd: f.count("ceiling"),
            quiet_hours: quiet(f.maybe("start"), f.maybe("end")),
            propose_rules: f.has("propose"),
          },
          { onSuccess: onClose },
        )
      }
    >
      <Fields wide>
        <Field
          label="Payments changed a day"
          name="writes"
          type="number"
          min={0}
          max={1_000_000}
          defaultValue={now.writes_per_day ?? ""}
          hint="Empty: no limit."
        />
        <Field
          label="Models, US dollars a month"
          name="ceiling"
          type="number"
          min={0}
          step="0.01"
          defaultValue={now.monthly_ceiling_usd ?? ""}
          hint="Empty: no ceiling."
        />
        <Field label="Quiet from" name="start" type="time" defaultValue={now.quiet_hours?.start} />
        <Field
          label="Quiet until"
          name="end"
          type="time"
          defaultValue={now.quiet_hours?.end}
          hint="Scheduled agents do not start then."
        />
      </Fields>
      <Check
        label="Agents only propose rules"
        name="propose"
        value="on"
        defaultChecked={now.propose_rules}
        hint="A rule of theirs does nothing until a person accepts it under Rules."
      />
    </FormDialog>
  );
}
