import { useState } from "react";
import { changeWorkflow, type Workflow, type WorkflowPatch } from "#/api/workflows";
import { useDeed } from "#/parts/deed";
import { type Filled, FormDialog } from "#/parts/FormDialog";
import { Field } from "#/ui/Field";
import { Area, Check, Fields, Select } from "#/ui/Form";

const triggers = [
  ["manual", "When I start it"],
  ["schedule", "On a schedule"],
  ["after_sync", "After a sync"],
] as const;

const providers = [
  ["", "The household’s default"],
  ["anthropic", "Anthropic"],
  ["openai_compatible", "OpenAI or compatible"],
] as const;

/** What the form says beyond what the workflow is already; unchanged fields are left alone. */
export function patchOf(w: Workflow, f: Filled): WorkflowPatch {
  const provider = (f.maybe("provider") as Workflow["provider"]) ?? null;
  const trigger = f.text("trigger") as Workflow["trigger"];
  const next: WorkflowPatch = {
    prompt: f.text("prompt"),
    provider,
    model: provider === null ? null : f.maybe("model"),
    trigger,
    schedule: trigger === "schedule" ? f.maybe("schedule") : null,
    max_cost_usd: f.count("cost"),
    max_turns: f.count("turns") ?? w.max_turns,
    max_minutes: f.count("minutes") ?? w.max_minutes,
    ...(w.scope === "read_only" ? {} : { max_writes: f.count("writes"), dry_run: f.has("dry_run") }),
  };
  const before = w as unknown as Record<string, unknown>;
  const same = (a: unknown, b: unknown) => (a ?? null) === (b ?? null);
  const out = Object.fromEntries(Object.entries(next).filter(([k, v]) => !same(v, before[k])));
  // A provider and its model only mean something together, and so do a trigger and its schedule.
  if ("provider" in out || "model" in out) Object.assign(out, { provider: next.provider, model: next.model });
  if ("trigger" in out || "schedule" in out) Object.assign(out, { trigger: next.trigger, schedule: next.schedule });
  return out;
}

/** The fields of a workflow that people change. */
export function WorkflowForm({ workflow: w, onClose }: { workflow: Workflow; onClose: () => void }) {
  const [trigger, setTrigger] = useState<string>(w.trigger);
  const [provider, setProvider] = useState<string>(w.provider ?? "");
  const save = useDeed({
    act: (body: WorkflowPatch) => changeWorkflow(w.slug, body),
    touches: ["workflows"],
    said: `“${w.name}” is saved`,
    quiet: true,
  });
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={`Change ${w.name}`}
      hint="A run that is under way keeps what it was started with."
      act="Save workflow"
      draft={`workflow ${w.slug}`}
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) => save.mutate(patchOf(w, f), { onSuccess: onClose })}
    >
      <Fields wide>
        <Field
          label="Cost a run, US dollars"
          name="cost"
          type="number"
          min={0}
          step="0.01"
          defaultValue={w.max_cost_usd ?? ""}
          hint="Empty: no cap but the month’s ceiling."
        />
        <Field
          label="Turns a run"
          name="turns"
          type="number"
          min={1}
          required
          defaultValue={w.max_turns}
          hint="How often the model is asked."
        />
        <Field
          label="Minutes a run"
          name="minutes"
          type="number"
          min={1}
          required
          defaultValue={w.max_minutes}
          hint="Then it ends, wherever it is."
        />
        {w.scope === "full_access" && (
          <Field
            label="Payments a run"
            name="writes"
            type="number"
            min={0}
            defaultValue={w.max_writes ?? ""}
            hint="What it would change beyond that is planned. Empty: no limit of its own."
          />
        )}
        <Select
          label="Starts"
          name="trigger"
          options={triggers}
          value={trigger}
          onChange={(e) => setTrigger(e.target.value)}
        />
        {trigger === "schedule" && (
          <Field
            label="Schedule"
            name="schedule"
            required
            defaultValue={w.schedule ?? "0 7 * * 1"}
            hint="Minute, hour, day, month, weekday. 0 7 * * 1 is Mondays at 07:00."
          />
        )}
        <Select
          label="Model of"
          name="provider"
          options={providers}
          value={provider}
          onChange={(e) => setProvider(e.target.value)}
        />
        {provider !== "" && (
          <Field label="Model" name="model" required defaultValue={w.model ?? ""} hint="As its provider names it." />
        )}
      </Fields>
      <Fields>
        {w.scope === "full_access" && (
          <Check
            label="Only plan changes"
            name="dry_run"
            defaultChecked={w.dry_run}
            hint="Each run ends with a plan that you apply, in whole or in part, or drop."
          />
        )}
        <Area label="What the model is asked" name="prompt" required rows={10} defaultValue={w.prompt} />
      </Fields>
    </FormDialog>
  );
}
