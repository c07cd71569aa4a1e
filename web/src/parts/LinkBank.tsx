import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type ReactNode, useState } from "react";
import type { RemoteProvider } from "#/api/providers";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Fields } from "#/ui/Form";
import type { IconName } from "#/ui/icons";
import { linkBank, linkWith } from "./banks";
import { ChooseBank } from "./ChooseBank";
import { FormDialog } from "./FormDialog";
import { useAction } from "./useAction";

type Props = {
  offer: RemoteProvider;
  kind?: "plain" | "filled";
  icon?: IconName;
  /** The path to which the bank's page sends the person back. */
  path?: string;
  children: ReactNode;
};

/** Connects a bank: on the provider's page, on the page of a bank that is chosen here, or with the values of a form. */
export function LinkBank({ offer, kind, icon, path, children }: Props) {
  const [asks, ask] = useState(false);
  const form = offer.link?.way === "form";
  const chooses = offer.link?.institutions ?? false;
  return (
    <>
      <Button kind={kind} icon={icon} onClick={() => (form || chooses ? ask(true) : void linkBank(offer.name, path))}>
        {children}
      </Button>
      {asks && form && <LinkForm offer={offer} onClose={() => ask(false)} />}
      {asks && chooses && <ChooseBank offer={offer} path={path} onClose={() => ask(false)} />}
    </>
  );
}

function LinkForm({ offer, onClose }: { offer: RemoteProvider; onClose: () => void }) {
  const called = offer.title;
  const link = useAction({
    act: (fields: Record<string, string>) => linkWith(offer.name, fields),
    reauth: true,
    touches: ["connections", "accounts", "overview", "sync"],
    text: t`Bank connected`,
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Connect with ${called}`}
      act={t`Connect`}
      busy={link.isPending}
      error={link.error}
      onSubmit={(f) => {
        const values = (offer.link?.fields ?? []).flatMap(({ name }) => (f.text(name) ? [[name, f.text(name)]] : []));
        link.mutate(Object.fromEntries(values), { onSuccess: onClose });
      }}
    >
      <Fields>
        {offer.guide && (
          <a className="link" href={offer.guide} target="_blank" rel="noreferrer">
            <Trans>Open {called} in a new tab</Trans>
          </a>
        )}
        {offer.link?.fields?.map((field) => (
          <Field
            key={field.name}
            label={field.title}
            name={field.name}
            hint={field.help}
            required={field.required}
            type={field.secret ? "password" : "text"}
            autoComplete="off"
            data-secret=""
          />
        ))}
      </Fields>
    </FormDialog>
  );
}
