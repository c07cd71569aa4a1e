import { useQuery } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import type { Schemas } from "#/api/client";
import { agentLimits, changeAgentLimits, type ModelName, setModel } from "#/api/settings";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Item } from "#/ui/Lines";
import { ModelTest } from "./ModelTest";
import { type Given, type Price, priced } from "./prices";

type Models = Schemas["Models"];
type Chosen = Given & { provider: ModelName; model: string };

export const modelNames: Record<ModelName, string> = {
  anthropic: "Anthropic",
  openai_compatible: "OpenAI or compatible",
};

/** The model of the workflows that name none, and what it costs. */
export function DefaultModel({ models }: { models: Models }) {
  const now = useQuery(agentLimits).data;
  const [open, setOpen] = useState(false);
  const [tests, setTests] = useState(false);
  const provider = now?.default_provider as ModelName | null | undefined;
  const model = now?.default_model;
  return (
    <Item
      name="Model for workflows"
      hint={provider && model ? `${model} · ${modelNames[provider]}` : "None: workflows that name none cannot run"}
      end={
        <>
          {provider && model && (
            <Button kind="quiet" onClick={() => setTests(true)}>
              Test
            </Button>
          )}
          {tests && provider && model && (
            <ModelTest provider={provider} model={model} onClose={() => setTests(false)} />
          )}
          <Button kind="quiet" disabled={!now} onClick={() => setOpen(true)}>
            {model ? "Change model" : "Choose a model"}
          </Button>
          {open && (
            <Form
              models={models}
              provider={provider ?? "anthropic"}
              model={model ?? ""}
              onClose={() => setOpen(false)}
            />
          )}
        </>
      }
    />
  );
}

function Form(p: { models: Models; provider: ModelName; model: string; onClose: () => void }) {
  const save = useDeed({
    act: async (c: Chosen) => {
      const prices = p.models[c.provider].prices;
      const next = priced(prices, c.model, c);
      if (next !== prices) await setModel({ provider: c.provider, prices: next });
      return changeAgentLimits({ default_provider: c.provider, default_model: c.model });
    },
    proof: true,
    touches: ["settings", "workflows"],
    said: "Saved",
    quiet: true,
  });
  const [provider, setProvider] = useState(p.provider);
  const [model, setModelName] = useState(p.model);
  const price = p.models[provider].prices.find((x) => x.model === model.trim());
  return (
    <FormDialog
      open
      wide
      onClose={p.onClose}
      title="Model for workflows"
      hint="Prices are in US dollars for a million tokens. Without them nothing with a cap on its cost can run."
      act="Save model"
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) =>
        save.mutate(
          {
            provider: f.text("provider") as ModelName,
            model: f.text("model"),
            input: f.maybe("input"),
            output: f.maybe("output"),
            cache_read: f.maybe("cache_read"),
            cache_write: f.maybe("cache_write"),
          },
          { onSuccess: p.onClose },
        )
      }
    >
      <Fields>
        <Select
          label="Model of"
          name="provider"
          options={Object.entries(modelNames)}
          value={provider}
          onChange={(e) => setProvider(e.target.value as ModelName)}
        />
        <Field
          label="Model"
          name="model"
          required
          value={model}
          onChange={(e) => setModelName(e.target.value)}
          hint="As its provider names it."
        />
      </Fields>
      {/* Another model's prices are never left standing for this one. */}
      <Prices key={price ? `${provider} ${price.model}` : ""} price={price} />
    </FormDialog>
  );
}

/** What a model costs. Cached tokens mostly cost less to read and a little more to write. */
function Prices({ price }: { price: Price | undefined }) {
  const [cached, setCached] = useState(!!price?.cache_read_usd || !!price?.cache_write_usd);
  const money = {
    inputMode: "decimal" as const,
    pattern: "[0-9]{1,6}(\\.[0-9]{1,6})?",
    title: "For example 3 or 0.25",
  };
  const ask = (e: ChangeEvent<HTMLInputElement>) => setCached(cached || e.target.value !== "");
  return (
    <Fields wide>
      <Field
        label="Price of what it reads"
        name="input"
        required={cached}
        defaultValue={price?.input_usd ?? ""}
        hint="0 for a model on a computer of yours. Empty keeps what is known."
        {...money}
      />
      <Field
        label="Price of what it writes"
        name="output"
        required={cached}
        defaultValue={price?.output_usd ?? ""}
        {...money}
      />
      <Field
        label="Price of what it reads from its cache"
        name="cache_read"
        defaultValue={price?.cache_read_usd ?? ""}
        onChange={ask}
        hint="Empty: as much as what it reads."
        {...money}
      />
      <Field
        label="Price of what it writes to its cache"
        name="cache_write"
        defaultValue={price?.cache_write_usd ?? ""}
        onChange={ask}
        hint="Empty: as much as what it reads."
        {...money}
      />
    </Fields>
  );
}
