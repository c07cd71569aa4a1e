import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { type ChangeEvent, useState } from "react";
import type { Schemas } from "#/api/client";
import { agentLimits, changeAgentLimits, type ModelName, setModel } from "#/api/settings";
import { decimalSign } from "#/lib/locale";
import { plain } from "#/lib/typed";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Item } from "#/ui/Lines";
import { ModelTest } from "./ModelTest";
import { type Given, type Price, priced } from "./prices";

type Models = Schemas["Models"];
type Chosen = Given & { provider: ModelName; model: string };

export const modelNames = (): Record<ModelName, string> => ({
  anthropic: "Anthropic",
  openai_compatible: t`OpenAI-compatible`,
});

/** The model of workflows that have none of their own, and its prices. */
export function DefaultModel({ models }: { models: Models }) {
  const now = useQuery(agentLimits).data;
  const [open, setOpen] = useState(false);
  const [tests, setTests] = useState(false);
  const provider = now?.default_provider as ModelName | null | undefined;
  const model = now?.default_model;
  return (
    <Item
      below
      name={t`Default model`}
      hint={
        provider && model
          ? `${model} · ${modelNames()[provider]}`
          : t`Not set. Workflows without their own model can’t run.`
      }
      end={
        <>
          {provider && model && (
            <Button kind="quiet" onClick={() => setTests(true)}>
              <Trans>Test</Trans>
            </Button>
          )}
          {tests && provider && model && (
            <ModelTest provider={provider} model={model} onClose={() => setTests(false)} />
          )}
          <Button kind="quiet" disabled={!now} onClick={() => setOpen(true)}>
            {model ? t`Change model` : t`Choose model`}
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
  const save = useAction({
    act: async (c: Chosen) => {
      const prices = p.models[c.provider].prices;
      const next = priced(prices, c.model, c);
      if (next !== prices) await setModel({ provider: c.provider, prices: next });
      return changeAgentLimits({ default_provider: c.provider, default_model: c.model });
    },
    reauth: true,
    touches: ["settings", "workflows"],
    text: t`Saved`,
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
      title={t`Default model`}
      hint={t`Prices in USD per million tokens. Required for workflows with a cost limit.`}
      act={t`Save`}
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) =>
        save.mutate(
          {
            provider: f.text("provider") as ModelName,
            model: f.text("model"),
            input: plain(f.text("input"), 6),
            output: plain(f.text("output"), 6),
            cache_read: plain(f.text("cache_read"), 6),
            cache_write: plain(f.text("cache_write"), 6),
          },
          { onSuccess: p.onClose },
        )
      }
    >
      <Fields>
        <Select
          label={t`Provider`}
          name="provider"
          options={Object.entries(modelNames())}
          value={provider}
          onChange={(e) => setProvider(e.target.value as ModelName)}
        />
        <Field
          label={t`Model`}
          name="model"
          required
          value={model}
          onChange={(e) => setModelName(e.target.value)}
          hint={t`Exact name used by the provider.`}
        />
      </Fields>
      {/* The key resets these fields for another model, so that one model's prices are not saved for another. */}
      <Prices key={price ? `${provider} ${price.model}` : ""} price={price} />
    </FormDialog>
  );
}

/** A price in the reader's format. */
const shown = (usd: string | undefined) => usd?.replace(".", decimalSign()) ?? "";

/** The fields for a model's prices. Cached tokens usually cost less to read and a little more to write. */
function Prices({ price }: { price: Price | undefined }) {
  const [cached, setCached] = useState(!!price?.cache_read_usd || !!price?.cache_write_usd);
  const money = {
    inputMode: "decimal" as const,
    pattern: "[0-9]{1,6}([.,][0-9]{1,6})?",
    title: t`For example 3 or 0.25`,
  };
  const ask = (e: ChangeEvent<HTMLInputElement>) => setCached(cached || e.target.value !== "");
  return (
    <Fields wide>
      <Field
        label={t`Input price`}
        name="input"
        required={cached}
        defaultValue={shown(price?.input_usd)}
        hint={t`Enter 0 for a local model. Leave blank to keep the current price.`}
        {...money}
      />
      <Field
        label={t`Output price`}
        name="output"
        required={cached}
        defaultValue={shown(price?.output_usd)}
        {...money}
      />
      <Field
        label={t`Cache read price`}
        name="cache_read"
        defaultValue={shown(price?.cache_read_usd)}
        onChange={ask}
        hint={t`Leave blank to use the input price.`}
        {...money}
      />
      <Field
        label={t`Cache write price`}
        name="cache_write"
        defaultValue={shown(price?.cache_write_usd)}
        onChange={ask}
        hint={t`Leave blank to use the input price.`}
        {...money}
      />
    </Fields>
  );
}
