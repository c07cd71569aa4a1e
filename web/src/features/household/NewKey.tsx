import { t } from "@lingui/core/macro";
import type { Schemas } from "#/api/client";
import { makeKey } from "#/api/keys";
import { FormDialog } from "#/parts/FormDialog";
import { SecretDialog } from "#/parts/SecretDialog";
import { useAction } from "#/parts/useAction";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";

type Ask = Schemas["CreateKey"];

/** Creates an API key, and shows it once. */
export function NewKey({ open, onClose }: { open: boolean; onClose: () => void }) {
  const make = useAction({ act: makeKey, reauth: true, touches: ["keys"], quiet: true });
  const done = () => {
    make.reset();
    onClose();
  };
  if (make.data)
    return (
      <SecretDialog
        open={open}
        title={t`API key “${{ key: make.data.name }}”`}
        what={t`key`}
        secret={make.data.key}
        onDone={done}
        hint={t`Send it in the X-API-Key header, or set COFFER_API_KEY for the command line.`}
      />
    );
  return (
    <FormDialog
      open={open}
      onClose={done}
      title={t`Create API key`}
      hint={t`Use a separate key for each program so you can track and revoke them individually.`}
      act={t`Create key`}
      draft="key"
      busy={make.isPending}
      error={make.error}
      onSubmit={(f) =>
        make.mutate({
          name: f.text("name"),
          scope: (f.text("scope") === "add" ? "full_access" : f.text("scope")) as Ask["scope"],
          ...(f.text("scope") === "add" && { only: ["add"] }),
          actor_type: f.text("actor") as Ask["actor_type"],
          ...(f.count("limit") === null ? {} : { max_writes_per_day: f.count("limit") ?? 0 }),
          ...(f.text("until") ? { expires_at: `${f.text("until")}T23:59:59Z` } : {}),
        })
      }
    >
      <Fields>
        <Field label={t`Name`} name="name" required maxLength={100} autoComplete="off" placeholder={t`Home server`} />
        <Select
          label={t`Permissions`}
          name="scope"
          options={[
            ["read_only", t`View only`],
            ["full_access", t`View and edit transactions and rules`],
            ["add", t`Only add transactions (phone shortcuts)`],
          ]}
        />
        <Select
          label={t`Used by`}
          name="actor"
          options={[
            ["user", t`A person (script or command line)`],
            ["agent", t`An AI agent (its changes are labeled and never override people)`],
            ["system", t`A system (dashboard, backup)`],
          ]}
        />
        <Field
          label={t`Changes per day`}
          name="limit"
          type="number"
          min={0}
          max={1_000_000}
          hint={t`Leave blank for the default: 2,000 for agents, no limit otherwise.`}
        />
        <Field label={t`Expires`} name="until" type="date" hint={t`Leave blank for no expiry.`} />
      </Fields>
    </FormDialog>
  );
}
