import { addMember, type Member } from "#/api/people";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Invited } from "./Invited";
import { roles } from "./roles";

/** Adds a member, and shows the link with which they get in. */
export function AddMember({ open, onClose }: { open: boolean; onClose: () => void }) {
  const add = useDeed({
    act: addMember,
    proof: true,
    touches: ["users", "overview"],
    said: (m) => `${m.name} is in the household`,
    quiet: true,
  });
  const done = () => {
    add.reset();
    onClose();
  };
  if (open && add.data?.invitation) return <Invited name={add.data.name} made={add.data.invitation} onDone={done} />;
  return (
    <FormDialog
      open={open}
      onClose={done}
      title="Add a member"
      hint="With an invitation they choose themselves how they sign in, and nobody else knows it."
      act="Add member"
      draft="member"
      busy={add.isPending}
      error={add.error}
      onSubmit={(f) =>
        add.mutate(
          {
            name: f.text("name"),
            role: f.text("role") as Member["role"],
            invite: f.text("invite") === "yes",
            ...(f.text("email") ? { email: f.text("email") } : {}),
          },
          { onSuccess: (m) => m.invitation || done() },
        )
      }
    >
      <Fields>
        <Field label="Name" name="name" required maxLength={100} autoComplete="off" />
        <Field label="E-mail address" name="email" type="email" autoComplete="off" hint="Nothing is ever sent to it." />
        <Select
          label="Role"
          name="role"
          defaultValue="member"
          options={Object.entries(roles).map(([role, r]) => [role, `${r.name}: ${r.may}`] as const)}
        />
        <Select
          label="How they get in"
          name="invite"
          options={[
            ["yes", "By a link that you give them"],
            ["no", "Not at all: they only own accounts"],
          ]}
        />
      </Fields>
    </FormDialog>
  );
}
