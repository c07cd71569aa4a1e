import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { type Provider, type ProviderName, setProvider, testProvider, unsetProvider } from "#/api/settings";
import { moment } from "#/lib/dates";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Area, Fields, Note, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { environment, fieldOf, masked } from "./words";

const names = { plaid: "Plaid", teller: "Teller" } as const;
const touches = ["settings", "connections"];

/** A bank provider: whether it is set up, and whether its configuration works. */
export function ProviderCard({ name, provider }: { name: ProviderName; provider: Provider }) {
  const [asks, ask] = useState<"set" | "unset" | null>(null);
  const called = names[name];
  const test = useDeed({ act: testProvider, proof: true, touches });
  const unset = useDeed({ act: unsetProvider, proof: true, touches, said: t`${called} removed` });
  const last = test.data ?? provider.last_test;
  const known = Object.entries(provider.fields).filter(([, f]) => f.set);
  return (
    <Card
      title={called}
      aside={
        <Badge mood={provider.configured ? "in" : "plain"}>{provider.configured ? t`Set up` : t`Not set up`}</Badge>
      }
      foot={
        <>
          {provider.source !== "env" && (
            <Button icon="edit" onClick={() => ask("set")}>
              {provider.configured ? t`Edit ${called}` : t`Set up ${called}`}
            </Button>
          )}
          {provider.configured && (
            <Button disabled={test.isPending} onClick={() => test.mutate(name)}>
              <Trans>Test {called}</Trans>
            </Button>
          )}
          {provider.source === "stored" && (
            <Button kind="quiet" onClick={() => ask("unset")}>
              <Trans>Remove</Trans>
            </Button>
          )}
          {provider.source === "env" && <span>{t`Configured by environment variables on the server.`}</span>}
        </>
      }
    >
      <Facts
        facts={[
          ...(provider.environment ? [[t`Environment`, environment(provider.environment)] as const] : []),
          ...known.map(([k, f]) => [fieldOf(k).name, <code key={k}>{masked(f)}</code>] as const),
          [
            t`Webhook URL`,
            provider.webhook_url ? (
              <code key="to" className="mono">
                {provider.webhook_url}
              </code>
            ) : (
              t`Not available until COFFER_PUBLIC_URL is set`
            ),
          ],
        ]}
      />
      {last && (
        <Note mood={last.ok ? "good" : "warn"}>
          {last.ok ? t`Connection to ${called} works` : last.message}
          <span className="small dim">{t`tested ${{ time: moment(last.at) }}`}</span>
        </Note>
      )}
      {asks === "set" && <ProviderForm name={name} called={called} provider={provider} onClose={() => ask(null)} />}
      {asks === "unset" && (
        <FormDialog
          open
          onClose={() => ask(null)}
          title={t`Remove ${called}?`}
          hint={t`Banks connected through it stop syncing. Their transactions are kept.`}
          act={t`Remove`}
          fault
          busy={unset.isPending}
          onSubmit={() => unset.mutate(name, { onSuccess: () => ask(null) })}
        />
      )}
    </Card>
  );
}

type Form = { name: ProviderName; called: string; provider: Provider; onClose: () => void };

function ProviderForm({ name, called, provider, onClose }: Form) {
  const said = provider.configured ? t`Saved` : t`${called} set up`;
  const save = useDeed({ act: setProvider, proof: true, touches, said, quiet: true });
  const asked = Object.keys(provider.fields);
  return (
    <FormDialog
      open
      onClose={onClose}
      title={provider.configured ? t`Edit ${called}` : t`Set up ${called}`}
      hint={t`Find these values in your ${called} dashboard. Secrets are encrypted and never shown again. Leave a field blank to keep its value.`}
      act={t`Save`}
      busy={save.isPending}
      error={save.error}
      onSubmit={(f) => {
        const given = Object.fromEntries(asked.flatMap((k) => (f.text(k) ? [[k, f.text(k)]] : [])));
        save.mutate(
          { provider: name, environment: f.text("environment") as "sandbox", ...given },
          { onSuccess: onClose },
        );
      }}
    >
      <Fields>
        <Select
          label={t`Environment`}
          name="environment"
          defaultValue={provider.environment ?? "sandbox"}
          options={[
            ["sandbox", environment("sandbox")],
            ...(name === "teller" ? [["development", environment("development")] as const] : []),
            ["production", environment("production")],
          ]}
        />
        {asked.map((k) => {
          const f = fieldOf(k);
          const set = provider.fields[k];
          const more = { label: f.name, name: k, hint: set?.set ? t`Current: ${{ value: masked(set) }}` : f.hint };
          if (f.lines) return <Area key={k} {...more} data-secret="" />;
          return <Field key={k} {...more} autoComplete="off" data-secret="" />;
        })}
      </Fields>
    </FormDialog>
  );
}
