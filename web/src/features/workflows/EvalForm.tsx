import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { evalWorkflow, type Workflow } from "#/api/workflows";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";

const providers = [
  ["", "The workflow’s own"],
  ["anthropic", "Anthropic"],
  ["openai_compatible", "OpenAI or compatible"],
] as const;

type Provider = Exclude<(typeof providers)[number][0], "">;

/** Asks how a workflow is to be measured on what people decided before, and leads to the run that does it. */
export function EvalForm({ workflow: w, onClose }: { workflow: Workflow; onClose: () => void }) {
  const go = useNavigate();
  const [provider, setProvider] = useState<string>("");
  const start = useDeed({
    act: (body: Parameters<typeof evalWorkflow>[1]) => evalWorkflow(w.slug, body),
    touches: ["workflows"],
    quiet: true,
  });
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={`Measure ${w.name}`}
      hint="The model is asked again about payments that you filed, with your books as they were before. Nothing is changed."
      act="Start measuring"
      busy={start.isPending}
      error={start.error}
      onSubmit={(f) => {
        const other = f.maybe("provider") as Provider | null;
        const most = f.count("cost");
        start.mutate(
          {
            sample: f.count("sample") ?? 200,
            windows: f.count("windows") ?? 4,
            ...(other ? { provider: other, model: f.text("model") } : {}),
            ...(most === null ? {} : { max_cost_usd: most }),
          },
          {
            onSuccess: (r) => {
              onClose();
              void go({ to: "/runs/$id", params: { id: r.short_id } });
            },
          },
        );
      }}
    >
      <Fields wide>
        <Field
          label="Decisions to compare with"
          name="sample"
          type="number"
          min={1}
          max={1000}
          required
          defaultValue={200}
          hint="The newest that people made. A verdict needs 30."
        />
        <Field
          label="Moments"
          name="windows"
          type="number"
          min={1}
          max={20}
          required
          defaultValue={4}
          hint="As of how many the books are shown. More are fairer and slower."
        />
        <Select
          label="Model of"
          name="provider"
          options={providers}
          value={provider}
          onChange={(e) => setProvider(e.target.value)}
        />
        {provider !== "" && <Field label="Model" name="model" required hint="As its provider names it." />}
        <Field
          label="Most it may cost, US dollars"
          name="cost"
          type="number"
          min={0}
          step="0.01"
          defaultValue={w.max_cost_usd ?? ""}
          hint="Needed unless the model is free."
        />
      </Fields>
    </FormDialog>
  );
}
