import { t } from "@lingui/core/macro";
import { useState } from "react";
import { changeWorkflow, type Workflow, type WorkflowPatch } from "#/api/workflows";
import { cents } from "#/lib/money";
import { amountOf } from "#/lib/typed";
import { type Filled, FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { AmountField } from "#/ui/AmountField";
import { Field } from "#/ui/Field";
import { Area, Check, Fields, Select } from "#/ui/Form";
import { draftOf, providers } from "./words";

const triggers = () =>
  [
    ["manual", t`Manually`],
    ["schedule", t`On a schedule`],
    ["after_sync", t`After each sync`],
  ] as const;

/** The fields of the workflow that the form changed. */
export function patchOf(w: Workflow, f: Filled): WorkflowPatch {
  const provider = (f.maybe("provider") as Workflow["provider"]) ?? null;
  const trigger = f.text("trigger") as Workflow["trigger"];
  const next: WorkflowPatch = {
    prompt: f.text("prompt"),
    provider,
    model: provider === null ? null : f.maybe("model"),
    trigger,
    schedule: trigger === "schedule" ? f.maybe("schedule") : null,
    max_cost_usd: amountOf(f.text("cost")),
    max_turns: f.count("turns") ?? w.max_turns,
    max_minutes: f.count("minutes") ?? w.max_minutes,
    ...(w.scope === "read_only" ? {} : { max_writes: f.count("writes"), dry_run: f.has("dry_run") }),
  };
  const before = w as unknown as Record<string, unknown>;
  const same = (a: unknown, b: unknown) => (a ?? null) === (b ?? null);
  const out = Object.fromEntries(Object.entries(next).filter(([k, v]) => !same(v, before[k])));
  // A provider and its model are always sent together, and so are a trigger and its schedule.
  if ("provider" in out || "model" in out) Object.assign(out, { provider: next.provider, model: next.model });
  if ("trigger" in out || "schedule" in out) Object.assign(out, { trigger: next.trigger, schedule: next.schedule });
  return out;
}

/** The fields of a workflow that people can change. */
export function WorkflowForm({ workflow: w, onClose }: { workflow: Workflow; onClose: () => void }) {
  const [trigger, setTrigger] = useState<string>(w.trigger);
  const [provider, setProvider] = useState<string>(w.provider ?? "");
  const save = useAction({
    act: (body: WorkflowPatch) => changeWorkflow(w.slug, body),
    touches: ["workflows"],
    text: t`“${{ name: w.name }}” saved`,
    quiet: true,
  });
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={t`Edit ${{ name: w.name }}`}
      hint={t`Runs already in progress aren’t affected.`}
      act={t`Save`}
      draft={draftOf(w.slug)}
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) => save.mutate(patchOf(w, f), { onSuccess: onClose })}
    >
      <Fields wide>
        <AmountField
          label={t`Cost limit per run (USD)`}
          name="cost"
          checked
          amount={w.max_cost_usd === null ? null : cents(w.max_cost_usd)}
          hint={t`Leave blank to use only the monthly limit.`}
        />
        <Field
          label={t`Turns per run`}
          name="turns"
          type="number"
          min={1}
          required
          defaultValue={w.max_turns}
          hint={t`Maximum number of model responses.`}
        />
        <Field
          label={t`Minutes per run`}
          name="minutes"
          type="number"
          min={1}
          required
          defaultValue={w.max_minutes}
          hint={t`The run stops at this point.`}
        />
        {w.scope === "full_access" && (
          <Field
            label={t`Transactions per run`}
            name="writes"
            type="number"
            min={0}
            defaultValue={w.max_writes ?? ""}
            hint={t`Changes beyond this need approval. Leave blank for no limit.`}
          />
        )}
        <Select
          label={t({ message: "Run", context: "when it starts" })}
          name="trigger"
          options={triggers()}
          value={trigger}
          onChange={(e) => setTrigger(e.target.value)}
        />
        {trigger === "schedule" && (
          <Field
            label={t`Schedule`}
            name="schedule"
            required
            defaultValue={w.schedule ?? "0 7 * * 1"}
            hint={t`Cron format: minute, hour, day, month, weekday. 0 7 * * 1 is Mondays at 07:00.`}
          />
        )}
        <Select
          label={t`Provider`}
          name="provider"
          options={providers(t`Household default`)}
          value={provider}
          onChange={(e) => setProvider(e.target.value)}
        />
        {provider !== "" && (
          <Field
            label={t`Model`}
            name="model"
            required
            defaultValue={w.model ?? ""}
            hint={t`Exact name used by the provider.`}
          />
        )}
      </Fields>
      <Fields>
        {w.scope === "full_access" && (
          <Check
            label={t`Require approval`}
            name="dry_run"
            defaultChecked={w.dry_run}
            hint={t`You approve each run’s changes before they’re applied.`}
          />
        )}
        <Area label={t`Prompt`} name="prompt" required rows={10} defaultValue={w.prompt} />
      </Fields>
    </FormDialog>
  );
}
