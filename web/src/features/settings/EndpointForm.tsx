import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useState } from "react";
import { addEndpoint, changeEndpoint, type Endpoint, removeEndpoint, rotateEndpoint } from "#/api/notifications";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Check, Fields } from "#/ui/Form";
import { offered, typeName } from "./notificationWords";

const touches = ["notifications"];
const example = ["https:", "", "ntfy.example", "our-household"].join("/");

/** Adds a webhook that receives notifications, or edits an existing one. */
export function EndpointForm(p: {
  endpoint: Endpoint | null;
  onClose: () => void;
  /** Called with a new secret, which the server returns only once. */
  onSecret: (secret: string) => void;
}) {
  const e = p.endpoint;
  const [asks, ask] = useState<"rotate" | "remove" | null>(null);
  const add = useAction({ act: addEndpoint, reauth: true, touches, quiet: true });
  const change = useAction({ act: changeEndpoint, reauth: true, touches, text: t`Saved`, quiet: true });
  const rotate = useAction({ act: rotateEndpoint, reauth: true, touches });
  const remove = useAction({ act: removeEndpoint, reauth: true, touches, text: t`Webhook removed` });
  if (e && asks === "rotate")
    return (
      <FormDialog
        open
        onClose={() => ask(null)}
        title={t`Rotate signing secret?`}
        hint={t`Both secrets work for 24 hours, so you have time to update the receiver.`}
        act={t`Rotate secret`}
        busy={rotate.isPending}
        onSubmit={() => rotate.mutate(e.id, { onSuccess: (r) => p.onSecret(r.secret) })}
      />
    );
  if (e && asks === "remove")
    return (
      <FormDialog
        open
        onClose={() => ask(null)}
        title={t`Remove webhook?`}
        hint={t`Nothing more will be sent to it, and pending messages are discarded.`}
        act={t`Remove webhook`}
        fault
        busy={remove.isPending}
        onSubmit={() => remove.mutate(e.id, { onSuccess: p.onClose })}
      />
    );
  const save = e ? change : add;
  return (
    <FormDialog
      open
      wide
      onClose={p.onClose}
      title={e ? t`Edit webhook` : t`Add webhook`}
      hint={t`coffer sends a signed message (Standard Webhooks) and retries for three days.`}
      act={e ? t`Save` : t`Add webhook`}
      busy={save.isPending}
      error={save.error}
      foot={
        e && (
          <>
            <Button kind="quiet" onClick={() => ask("remove")}>
              <Trans>Remove</Trans>
            </Button>
            <Button kind="quiet" onClick={() => ask("rotate")}>
              <Trans>Rotate secret</Trans>
            </Button>
          </>
        )
      }
      onSubmit={(f) => {
        const chosen = offered.filter((type) => f.has(type));
        const body = {
          url: f.text("url"),
          events: chosen.length === offered.length ? [] : [...chosen],
          content: f.has("full") ? ("full" as const) : ("lean" as const),
        };
        const description = f.maybe("description");
        if (e) change.mutate({ id: e.id, ...body, description, enabled: f.has("enabled") }, { onSuccess: p.onClose });
        else
          add.mutate({ ...body, ...(description ? { description } : {}) }, { onSuccess: (r) => p.onSecret(r.secret) });
      }}
    >
      <Fields>
        <Field
          label={t`URL`}
          name="url"
          type="url"
          required
          maxLength={500}
          defaultValue={e?.url ?? ""}
          placeholder={example}
          hint={t`Must be https, or http on your own network.`}
        />
        <Field
          label={t`Name`}
          name="description"
          maxLength={200}
          defaultValue={e?.description ?? ""}
          placeholder={t`Kitchen`}
        />
      </Fields>
      <Fields wide>
        {offered.map((type) => (
          <Check
            key={type}
            name={type}
            label={typeName(type)}
            defaultChecked={!e || e.events.length === 0 || e.events.includes(type)}
          />
        ))}
      </Fields>
      <Fields>
        <Check
          name="full"
          label={t`Include bank and report names`}
          hint={t`Otherwise messages only contain IDs, dates, amounts and names you set yourself.`}
          defaultChecked={e?.content === "full"}
        />
        {e && <Check name="enabled" label={t`Enabled`} defaultChecked={e.enabled} />}
      </Fields>
    </FormDialog>
  );
}
