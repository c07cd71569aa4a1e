import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Schemas } from "#/api/client";
import { agentLimits, type ModelName, setModel } from "#/api/settings";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { DefaultModel, modelNames } from "./DefaultModel";
import { ModelTest } from "./ModelTest";
import { masked } from "./words";

/** The providers of AI models. Until one is set up, no transaction data leaves the server. */
export function ModelCard({ models }: { models: Schemas["Models"] }) {
  const [open, setOpen] = useState<ModelName | null>(null);
  const names = modelNames();
  const [tests, setTests] = useState<ModelName | null>(null);
  const limits = useQuery(agentLimits).data;
  const unset = limits && !limits.default_model;
  return (
    <Card title={t`AI models`} flush foot={unset && t`No transaction data is sent to a model until you choose one.`}>
      <Lines label={t`AI models`}>
        {(Object.keys(names) as ModelName[]).map((m) => (
          <Item
            key={m}
            below
            name={names[m]}
            hint={described(models[m])}
            end={
              <>
                {hasServer(models[m]) && (
                  <Button kind="quiet" aria-label={t`Test: ${{ provider: names[m] }}`} onClick={() => setTests(m)}>
                    <Trans>Test</Trans>
                  </Button>
                )}
                {hasServer(models[m]) ? (
                  <Button kind="quiet" aria-label={t`Edit: ${{ provider: names[m] }}`} onClick={() => setOpen(m)}>
                    <Trans>Edit</Trans>
                  </Button>
                ) : (
                  <Button kind="quiet" aria-label={t`Add key: ${{ provider: names[m] }}`} onClick={() => setOpen(m)}>
                    <Trans>Add key</Trans>
                  </Button>
                )}
              </>
            }
          />
        ))}
        <DefaultModel models={models} />
      </Lines>
      {tests && (
        <ModelTest provider={tests} model={models[tests].prices[0]?.model ?? ""} onClose={() => setTests(null)} />
      )}
      {open && <ModelForm name={open} model={models[open]} onClose={() => setOpen(null)} />}
    </Card>
  );
}

/** Whether the provider can be called: it has a key, or an address of a server, which may need no key. */
const hasServer = (m: Schemas["Model"]) => m.key.set || !!m.base_url;

function described({ key, base_url }: Schemas["Model"]): string {
  const has = key.set ? t`Key ${{ key: masked(key) }}` : t`No key`;
  return base_url ? `${has} · ${base_url}` : has;
}

/** The hint for a provider that has no key. */
const noKey = (name: ModelName) =>
  name === "openai_compatible" ? t`Not needed for a model on your own computer.` : undefined;

function ModelForm({ name, model, onClose }: { name: ModelName; model: Schemas["Model"]; onClose: () => void }) {
  const save = useAction({ act: setModel, reauth: true, touches: ["settings"], text: t`Saved`, quiet: true });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={modelNames()[name]}
      hint={t`The key is encrypted and never shown again.`}
      act={t`Save`}
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) =>
        save.mutate(
          { provider: name, base_url: f.maybe("url"), ...(f.text("key") ? { key: f.text("key") } : {}) },
          { onSuccess: onClose },
        )
      }
      foot={
        model.key.set && (
          <Button kind="quiet" onClick={() => save.mutate({ provider: name, key: null }, { onSuccess: onClose })}>
            <Trans>Remove key</Trans>
          </Button>
        )
      }
    >
      <Fields>
        <Field
          label={t`API key`}
          name="key"
          autoComplete="off"
          data-secret=""
          required={name === "anthropic" && !model.key.set}
          hint={model.key.set ? t`Current: ${{ key: masked(model.key) }}. Leave blank to keep it.` : noKey(name)}
        />
        <Field
          label={t`Base URL`}
          name="url"
          type="url"
          defaultValue={model.base_url ?? ""}
          hint={t`Leave blank for the provider’s default. Changing it requires the key again.`}
        />
      </Fields>
    </FormDialog>
  );
}
