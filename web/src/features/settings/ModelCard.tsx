import { useState } from "react";
import type { Schemas } from "#/api/client";
import { type ModelName, setModel } from "#/api/settings";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { DefaultModel, modelNames as names } from "./DefaultModel";
import { ModelTest } from "./ModelTest";
import { masked } from "./words";

/** Where models are asked. Until one is set, no text of a payment leaves the server. */
export function ModelCard({ models }: { models: Schemas["Models"] }) {
  const [open, setOpen] = useState<ModelName | null>(null);
  const [tests, setTests] = useState<ModelName | null>(null);
  return (
    <Card title="Models" flush foot="Until a model is set, nothing of a payment is sent to one.">
      <Lines label="Models">
        {(Object.keys(names) as ModelName[]).map((m) => (
          <Item
            key={m}
            name={names[m]}
            hint={`${models[m].key.set ? `Key ${masked(models[m].key)}` : "No key"}${at(models[m].base_url)}`}
            end={
              <>
                {(models[m].key.set || models[m].base_url) && (
                  <Button kind="quiet" aria-label={`Test: ${names[m]}`} onClick={() => setTests(m)}>
                    Test
                  </Button>
                )}
                <Button kind="quiet" aria-label={`${change(models[m])}: ${names[m]}`} onClick={() => setOpen(m)}>
                  {change(models[m])}
                </Button>
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

/** A server of one's own has an address and often no key. */
const change = (m: Schemas["Model"]) => (m.key.set || m.base_url ? "Change" : "Set a key");

const noKey: Partial<Record<ModelName, string>> = { openai_compatible: "A model on a computer of yours needs none." };

const at = (url: string | null) => (url ? ` · ${url}` : "");

function ModelForm({ name, model, onClose }: { name: ModelName; model: Schemas["Model"]; onClose: () => void }) {
  const save = useDeed({ act: setModel, proof: true, touches: ["settings"], said: "Saved", quiet: true });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={names[name]}
      hint="The key is sealed and never shown again."
      act="Save"
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
            Remove key
          </Button>
        )
      }
    >
      <Fields>
        <Field
          label="Key"
          name="key"
          autoComplete="off"
          data-secret=""
          required={name === "anthropic" && !model.key.set}
          hint={model.key.set ? `Now ${masked(model.key)}; empty keeps it.` : noKey[name]}
        />
        <Field
          label="Address"
          name="url"
          type="url"
          defaultValue={model.base_url ?? ""}
          hint="Empty: the provider’s own. Another address needs the key again."
        />
      </Fields>
    </FormDialog>
  );
}
