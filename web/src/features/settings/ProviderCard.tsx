import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import type { RemoteProvider } from "#/api/providers";
import { type Provider, setProvider, testProvider, unsetProvider } from "#/api/settings";
import { moment } from "#/lib/dates";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Card } from "#/ui/Card";
import { Badge } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Area, Fields, Note, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";
import { environment, fieldOf, masked, sendsWebhooks } from "./words";

const touches = ["settings", "connections"];

/** A bank provider: whether it is set up, and whether its configuration works. */
export function ProviderCard({ offer, provider }: { offer: RemoteProvider; provider: Provider }) {
  const [asks, ask] = useState<"set" | "unset" | null>(null);
  const { name, title: called } = offer;
  const test = useAction({ act: testProvider, reauth: true, touches });
  const unset = useAction({ act: unsetProvider, reauth: true, touches, text: t`${called} removed` });
  const last = test.data ?? provider.last_test;
  const known = offer.fields.flatMap((f) => {
    const now = provider.fields[f.name];
    return now?.set ? [[fieldOf(f).name, <code key={f.name}>{masked(now)}</code>] as const] : [];
  });
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
          ...known,
          ...(sendsWebhooks(offer)
            ? [
                [
                  t`Webhook URL`,
                  provider.webhook_url ? (
                    <code key="to" className="mono">
                      {provider.webhook_url}
                    </code>
                  ) : (
                    t`Not available until COFFER_PUBLIC_URL is set`
                  ),
                ] as const,
              ]
            : []),
        ]}
      />
      {last && (
        <Note mood={last.ok ? "good" : "warn"}>
          {last.ok ? t`Connection to ${called} works` : last.message}
          <span className="small dim">{t`tested ${{ time: moment(last.at) }}`}</span>
        </Note>
      )}
      {asks === "set" && <ProviderForm offer={offer} provider={provider} onClose={() => ask(null)} />}
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

type Form = { offer: RemoteProvider; provider: Provider; onClose: () => void };

function ProviderForm({ offer, provider, onClose }: Form) {
  const called = offer.title;
  const text = provider.configured ? t`Saved` : t`${called} set up`;
  const save = useAction({ act: setProvider, reauth: true, touches, text, quiet: true });
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
        const given = Object.fromEntries(offer.fields.flatMap(({ name: k }) => (f.text(k) ? [[k, f.text(k)]] : [])));
        save.mutate({ provider: offer.name, ...given }, { onSuccess: onClose });
      }}
    >
      <Fields>
        {offer.guide && (
          <a className="link" href={offer.guide} target="_blank" rel="noreferrer">
            <Trans>Open {called} in a new tab</Trans>
          </a>
        )}
        {offer.fields.map((field) => {
          const { name: label, hint } = fieldOf(field);
          const set = provider.fields[field.name];
          const more = { label, name: field.name, hint: set?.set ? t`Current: ${{ value: masked(set) }}` : hint };
          if (field.values)
            return (
              <Select
                key={field.name}
                label={label}
                name={field.name}
                defaultValue={provider.environment ?? field.values[0]}
                options={field.values.map((v) => [v, environment(v)] as const)}
              />
            );
          if (field.lines) return <Area key={field.name} {...more} data-secret="" />;
          return <Field key={field.name} {...more} autoComplete="off" data-secret="" />;
        })}
      </Fields>
    </FormDialog>
  );
}
