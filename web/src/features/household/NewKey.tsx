import type { Schemas } from "#/api/client";
import { makeKey } from "#/api/keys";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Once } from "#/parts/Once";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";

type Ask = Schemas["CreateKey"];

/** Makes a key, and shows it this once. */
export function NewKey({ open, onClose }: { open: boolean; onClose: () => void }) {
  const make = useDeed({ act: makeKey, proof: true, touches: ["keys"], quiet: true });
  const done = () => {
    make.reset();
    onClose();
  };
  if (make.data)
    return (
      <Once
        open={open}
        title={`The key “${make.data.name}”`}
        what="key"
        secret={make.data.key}
        onDone={done}
        hint="It goes into the header X-API-Key, or into COFFER_API_KEY for the command line."
      />
    );
  return (
    <FormDialog
      open={open}
      onClose={done}
      title="Make a key"
      hint="A key lets one program in. Give each its own, so that each can be ended alone and signs what it does."
      act="Make key"
      draft="key"
      busy={make.isPending}
      error={make.error}
      onSubmit={(f) =>
        make.mutate({
          name: f.text("name"),
          scope: f.text("scope") as Ask["scope"],
          actor_type: f.text("actor") as Ask["actor_type"],
          ...(f.count("limit") === null ? {} : { max_writes_per_day: f.count("limit") ?? 0 }),
          ...(f.text("until") ? { expires_at: `${f.text("until")}T23:59:59Z` } : {}),
        })
      }
    >
      <Fields>
        <Field
          label="What it is for"
          name="name"
          required
          maxLength={100}
          autoComplete="off"
          placeholder="Home server"
        />
        <Select
          label="What it may do"
          name="scope"
          options={[
            ["read_only", "Read everything"],
            ["full_access", "Read everything, and change payments and rules"],
          ]}
        />
        <Select
          label="Who uses it"
          name="actor"
          options={[
            ["user", "A person, with a script or the command line"],
            ["agent", "An agent: its changes are marked as such, and people overrule it"],
            ["system", "A machine, such as a dashboard or a backup"],
          ]}
        />
        <Field
          label="Payments it may change a day"
          name="limit"
          type="number"
          min={0}
          max={1_000_000}
          hint="Empty: 2,000 for an agent, no limit for anyone else."
        />
        <Field label="Ends after" name="until" type="date" hint="Empty: works until it is revoked." />
      </Fields>
    </FormDialog>
  );
}
