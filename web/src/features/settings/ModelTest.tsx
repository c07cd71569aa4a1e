import type { Schemas } from "#/api/client";
import { type ModelName, testModel } from "#/api/settings";
import { useDeed } from "#/parts/deed";
import { sentence } from "#/parts/edit";
import { FormDialog } from "#/parts/FormDialog";
import { Cost } from "#/ui/Amount";
import { Field } from "#/ui/Field";
import { Fields, Note, Progress } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { counted, seconds } from "./words";

/** Asks a model with a long prompt and a tool, and shows whether workflows can use it. */
export function ModelTest(p: { provider: ModelName; model: string; onClose: () => void }) {
  const test = useDeed({ act: testModel, proof: true, touches: [], quiet: true });
  return (
    <FormDialog
      open
      onClose={p.onClose}
      title="Test a model"
      hint="It is asked once, with a made-up prompt as long as a real one. Nothing of your payments is sent."
      act={test.data ? "Test again" : "Test model"}
      busy={test.isPending}
      error={test.error}
      onSubmit={(f) => test.mutate({ provider: p.provider, model: f.text("model") })}
    >
      <Fields>
        <Field label="Model" name="model" required defaultValue={p.model} hint="As its provider names it." />
      </Fields>
      {test.isPending && (
        <p className="small dim" aria-live="polite">
          The model has up to 80 seconds; one that must be loaded first needs some of them.
          <Progress label="Waits for the model" done={0} />
        </p>
      )}
      {test.data && !test.isPending && <Result test={test.data} />}
    </FormDialog>
  );
}

const yes = (is: boolean) => (is ? "Yes" : "No");

/** What a test found: first whether the model will do and what to do if not, then what that rests on. */
function Result({ test: t }: { test: Schemas["ModelTest"] }) {
  return (
    <section aria-live="polite" aria-label="What the test found">
      <Fields>
        <Note mood={t.ok ? "good" : "warn"}>
          <span>
            {t.ok ? "Workflows can use it. " : "Workflows cannot use it yet. "}
            <bdi>{sentence(t.message)}</bdi>
          </span>
        </Note>
        <Facts
          facts={[
            ["Called the tool", yes(t.tool_call)],
            ["Read the beginning", yes(t.code_seen)],
            ["Tokens", counted(t)],
            ["Cost", <Cost key="cost" usd={t.cost_usd ?? null} />],
            ["Time", seconds(t.took_ms)],
          ]}
        />
      </Fields>
    </section>
  );
}
