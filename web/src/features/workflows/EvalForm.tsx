import { t } from "@lingui/core/macro";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { evalWorkflow, type Workflow } from "#/api/workflows";
import { cents } from "#/lib/money";
import { amountOf } from "#/lib/typed";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { AmountField } from "#/ui/AmountField";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { providers } from "./words";

type Provider = Exclude<ReturnType<typeof providers>[number][0], "">;

/** Starts an accuracy test, which compares a workflow with past decisions of people. It then opens the test's run. */
export function EvalForm({ workflow: w, onClose }: { workflow: Workflow; onClose: () => void }) {
  const go = useNavigate();
  const [provider, setProvider] = useState<string>("");
  const start = useAction({
    act: (body: Parameters<typeof evalWorkflow>[1]) => evalWorkflow(w.slug, body),
    touches: ["workflows"],
    quiet: true,
  });
  return (
    <FormDialog
      open
      wide
      onClose={onClose}
      title={t`Test accuracy of ${{ name: w.name }}`}
      hint={t`The model categorizes transactions you’ve already categorized, without seeing your answers. Nothing is changed.`}
      act={t`Start test`}
      busy={start.isPending}
      error={start.error}
      onSubmit={(f) => {
        const other = f.maybe("provider") as Provider | null;
        const maxCost = amountOf(f.text("cost"));
        start.mutate(
          {
            sample: f.count("sample") ?? 200,
            windows: f.count("windows") ?? 4,
            ...(other ? { provider: other, model: f.text("model") } : {}),
            ...(maxCost === null ? {} : { max_cost_usd: maxCost }),
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
          label={t`Transactions to test`}
          name="sample"
          type="number"
          min={1}
          max={1000}
          required
          defaultValue={200}
          hint={t`Your most recent decisions. You need at least 30 for a verdict.`}
        />
        <Field
          label={t`Points in time`}
          name="windows"
          type="number"
          min={1}
          max={20}
          required
          defaultValue={4}
          hint={t`More points are fairer but slower.`}
        />
        <Select
          label={t`Provider`}
          name="provider"
          options={providers(t`Workflow default`)}
          value={provider}
          onChange={(e) => setProvider(e.target.value)}
        />
        {provider !== "" && <Field label={t`Model`} name="model" required hint={t`Exact name used by the provider.`} />}
        <AmountField
          label={t`Cost limit (USD)`}
          name="cost"
          checked
          amount={w.max_cost_usd === null ? null : cents(w.max_cost_usd)}
          hint={t`Required unless the model is free.`}
        />
      </Fields>
    </FormDialog>
  );
}
