import { t } from "@lingui/core/macro";
import { addMember, type Member } from "#/api/people";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Invited } from "./Invited";
import { allRoles, rolePermissions } from "./roles";

/** Adds a member, and shows their invitation link. */
export function AddMember({ open, onClose }: { open: boolean; onClose: () => void }) {
  const add = useAction({
    act: addMember,
    reauth: true,
    touches: ["users", "overview"],
    text: (m) => t`${{ name: m.name }} added`,
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
      title={t`Add member`}
      hint={t`They’ll set up their own password or passkey from an invitation link.`}
      act={t`Add member`}
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
        <Field label={t`Name`} name="name" required maxLength={100} autoComplete="off" />
        <Field
          label={t`Email`}
          name="email"
          type="email"
          autoComplete="off"
          hint={t`Used to sign in. coffer never sends email.`}
        />
        <Select
          label={t`Role`}
          name="role"
          defaultValue="member"
          options={allRoles.map((role) => [role, rolePermissions(role)] as const)}
        />
        <Select
          label={t`Sign-in`}
          name="invite"
          options={[
            ["yes", t`Create an invitation link`],
            ["no", t`No sign-in (account owner only)`],
          ]}
        />
      </Fields>
    </FormDialog>
  );
}
