import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Schemas } from "#/api/client";
import { type ModelName, testModel } from "#/api/settings";
import { sentence } from "#/parts/edit";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Cost } from "#/ui/Amount";
import { Field } from "#/ui/Field";
import { Fields, Note, Progress } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { counted, seconds } from "./words";

/** Tests a model with a long prompt and a tool, and shows whether it is good enough for workflows. */
export function ModelTest(p: { provider: ModelName; model: string; onClose: () => void }) {
  const test = useAction({ act: testModel, reauth: true, touches: [], quiet: true });
  return (
    <FormDialog
      open
      onClose={p.onClose}
      title={t`Test model`}
      hint={t`Sends one sample prompt of realistic length. None of your data is sent.`}
      act={test.data ? t`Test again` : t`Test model`}
      busy={test.isPending}
      error={test.error}
      onSubmit={(f) => test.mutate({ provider: p.provider, model: f.text("model") })}
    >
      <Fields>
        <Field
          label={t`Model`}
          name="model"
          required
          defaultValue={p.model}
          hint={t`Exact name used by the provider.`}
        />
      </Fields>
      {test.isPending && (
        <p className="small dim" aria-live="polite">
          <Trans>The test waits up to 80 seconds. A local model may need some of that time to load.</Trans>
          <Progress label={t`Waiting for the model…`} done={0} />
        </p>
      )}
      {test.data && !test.isPending && <Result test={test.data} />}
    </FormDialog>
  );
}

const yes = (is: boolean) => (is ? t`Yes` : t`No`);

/** The result of a test: whether the model is good enough, what to do if not, and the measurements. */
function Result({ test }: { test: Schemas["ModelTest"] }) {
  return (
    <section aria-live="polite" aria-label={t`Test result`}>
      <Fields>
        <Note mood={test.ok ? "good" : "warn"}>
          <span>
            {test.ok ? t`Ready for workflows.` : t`Not ready for workflows.`} <bdi>{sentence(test.message)}</bdi>
          </span>
        </Note>
        <Facts
          facts={[
            [t`Tool call`, yes(test.tool_call)],
            [t`Full prompt read`, yes(test.code_seen)],
            [t`Tokens`, counted(test)],
            [t`Cost`, <Cost key="cost" usd={test.cost_usd ?? null} />],
            [t`Time`, seconds(test.took_ms)],
          ]}
        />
      </Fields>
    </section>
  );
}
