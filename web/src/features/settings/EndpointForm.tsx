import { useState } from "react";
import { addEndpoint, changeEndpoint, type Endpoint, removeEndpoint, rotateEndpoint } from "#/api/notifications";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Check, Fields } from "#/ui/Form";
import { called, offered } from "./told";

const touches = ["notifications"];

/** Adds an address to which notifications go, or changes one. */
export function EndpointForm(p: {
  endpoint: Endpoint | null;
  onClose: () => void;
  /** A secret that is to be shown now, and never again. */
  onSecret: (secret: string) => void;
}) {
  const e = p.endpoint;
  const [asks, ask] = useState<"rotate" | "remove" | null>(null);
  const add = useDeed({ act: addEndpoint, proof: true, touches, quiet: true });
  const change = useDeed({ act: changeEndpoint, proof: true, touches, said: "Saved", quiet: true });
  const rotate = useDeed({ act: rotateEndpoint, proof: true, touches });
  const remove = useDeed({ act: removeEndpoint, proof: true, touches, said: "The address is removed" });
  if (e && asks === "rotate")
    return (
      <FormDialog
        open
        onClose={() => ask(null)}
        title="Make a new secret?"
        hint="Messages are signed with both secrets for 24 hours, so that none is lost while you change it at the receiver."
        act="Make a new secret"
        busy={rotate.isPending}
        onSubmit={() => rotate.mutate(e.id, { onSuccess: (r) => p.onSecret(r.secret) })}
      />
    );
  if (e && asks === "remove")
    return (
      <FormDialog
        open
        onClose={() => ask(null)}
        title="Remove this address?"
        hint="Nothing is sent there any more, and what is on its way is dropped."
        act="Remove the address"
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
      title={e ? "Change the address" : "Add an address"}
      hint="coffer posts a signed message to it (Standard Webhooks) and tries again for three days until it arrives."
      act={e ? "Save" : "Add the address"}
      busy={save.isPending}
      error={save.error}
      foot={
        e && (
          <>
            <Button kind="quiet" onClick={() => ask("remove")}>
              Remove
            </Button>
            <Button kind="quiet" onClick={() => ask("rotate")}>
              New secret
            </Button>
          </>
        )
      }
      onSubmit={(f) => {
        const chosen = offered.filter((t) => f.has(t));
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
          label="Address"
          name="url"
          type="url"
          required
          maxLength={500}
          defaultValue={e?.url ?? ""}
          placeholder="ntfy.example/our-household, with https"
          hint="https, or http within your own network."
        />
        <Field
          label="Name"
          name="description"
          maxLength={200}
          defaultValue={e?.description ?? ""}
          placeholder="Kitchen"
        />
      </Fields>
      <Fields wide>
        {offered.map((t) => (
          <Check
            key={t}
            name={t}
            label={called(t)}
            defaultChecked={!e || e.events.length === 0 || e.events.includes(t)}
          />
        ))}
      </Fields>
      <Fields>
        <Check
          name="full"
          label="With names from banks and reports"
          hint="Otherwise messages have ids, days, amounts and your own names only."
          defaultChecked={e?.content === "full"}
        />
        {e && <Check name="enabled" label="Turned on" defaultChecked={e.enabled} />}
      </Fields>
    </FormDialog>
  );
}
