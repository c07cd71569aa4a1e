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
import { fields, masked } from "./words";

const names = { plaid: "Plaid", teller: "Teller" } as const;
const touches = ["settings", "connections"];

/** A company through which banks are linked: whether it is set up, and whether it takes what it was given. */
export function ProviderCard({ name, provider }: { name: ProviderName; provider: Provider }) {
  const [asks, ask] = useState<"set" | "unset" | null>(null);
  const called = names[name];
  const test = useDeed({ act: testProvider, proof: true, touches });
  const unset = useDeed({ act: unsetProvider, proof: true, touches, said: `${called} is no longer set up` });
  const last = test.data ?? provider.last_test;
  const known = Object.entries(provider.fields).filter(([, f]) => f.set);
  return (
    <Card
      title={called}
      aside={<Badge mood={provider.configured ? "in" : "plain"}>{provider.configured ? "Set up" : "Not set up"}</Badge>}
      foot={
        <>
          {provider.source !== "env" && (
            <Button icon="edit" onClick={() => ask("set")}>
              {provider.configured ? `Change ${called}` : `Set up ${called}`}
            </Button>
          )}
          {provider.configured && (
            <Button disabled={test.isPending} onClick={() => test.mutate(name)}>
              Test {called}
            </Button>
          )}
          {provider.source === "stored" && (
            <Button kind="quiet" onClick={() => ask("unset")}>
              Remove
            </Button>
          )}
          {provider.source === "env" && <span>Set by the server’s environment, which comes first.</span>}
        </>
      }
    >
      <Facts
        facts={[
          ...(provider.environment ? [["Environment", provider.environment] as const] : []),
          ...known.map(([k, f]) => [fields[k]?.name ?? k, <code key={k}>{masked(f)}</code>] as const),
          [
            "Webhooks go to",
            provider.webhook_url ? (
              <code key="to" className="mono">
                {provider.webhook_url}
              </code>
            ) : (
              "Nowhere, until COFFER_PUBLIC_URL is set"
            ),
          ],
        ]}
      />
      {last && (
        <Note mood={last.ok ? "good" : "warn"}>
          {last.ok ? `${called} takes it` : last.message}
          <span className="small dim">tested {moment(last.at)}</span>
        </Note>
      )}
      {asks === "set" && <ProviderForm name={name} called={called} provider={provider} onClose={() => ask(null)} />}
      {asks === "unset" && (
        <FormDialog
          open
          onClose={() => ask(null)}
          title={`Remove what ${called} was set up with?`}
          hint="Banks that are linked through it are not read any more. Their payments stay."
          act="Remove"
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
  const save = useDeed({ act: setProvider, proof: true, touches, said: `${called} is set up`, quiet: true });
  const asked = Object.keys(provider.fields);
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Set up ${called}`}
      hint={`The values are on ${called}’s dashboard. Secrets are sealed and never shown again; what is left empty stays as it is.`}
      act="Save"
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
          label="Environment"
          name="environment"
          defaultValue={provider.environment ?? "sandbox"}
          options={[
            ["sandbox", "Sandbox: made-up banks"],
            ...(name === "teller" ? [["development", "Development"] as const] : []),
            ["production", "Production: real banks"],
          ]}
        />
        {asked.map((k) => {
          const f = fields[k] ?? { name: k };
          const set = provider.fields[k];
          const more = { label: f.name, name: k, hint: set?.set ? `Now ${masked(set)}` : f.hint };
          if (f.lines) return <Area key={k} {...more} data-secret="" />;
          return <Field key={k} {...more} autoComplete="off" data-secret="" />;
        })}
      </Fields>
    </FormDialog>
  );
}
