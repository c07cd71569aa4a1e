import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  changeMember,
  endSession,
  inviteMember,
  logins,
  type Member,
  removeLogin,
  sessions,
  voidInvitation,
} from "#/api/people";
import { moment } from "#/lib/dates";
import { FormDialog } from "#/parts/FormDialog";
import { SessionLines, SignInLines } from "#/parts/SignIns";
import { useAction } from "#/parts/useAction";
import { Button } from "#/ui/Button";
import { Skeleton } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Invited } from "./Invited";
import { EraseMember, RemoveMember, SetPassword } from "./Leaving";
import { allRoles, roleName, rolePermissions } from "./roles";

type Asks = "remove" | "erase" | "password" | null;

/** One member: role, sign-in methods and sessions. */
export function MemberSheet({ member, me, onClose }: { member: Member; me: boolean; onClose: () => void }) {
  const [asks, ask] = useState<Asks>(null);
  const signIns = useQuery(logins(member.id));
  const at = useQuery(sessions(member.id));
  const save = useAction({
    act: changeMember,
    reauth: true,
    touches: ["users", "session"],
    text: t`Saved`,
    quiet: true,
  });
  const remove = useAction({
    act: removeLogin,
    reauth: true,
    touches: ["users"],
    text: t`Sign-in method removed`,
  });
  const invite = useAction({ act: inviteMember, reauth: true, touches: ["users"] });
  const withdraw = useAction({ act: voidInvitation, touches: ["users"], text: t`Invitation canceled` });
  const end = useAction({ act: endSession, touches: ["users"], text: t`Session ended` });
  const close = () => ask(null);
  if (invite.data) return <Invited name={member.name} made={invite.data} onDone={() => invite.reset()} />;
  return (
    <>
      <FormDialog
        open={asks === null}
        onClose={onClose}
        title={member.name}
        hint={rolePermissions(member.role)}
        act={t`Save`}
        wide
        busy={save.isPending}
        error={save.error}
        onSubmit={(f) =>
          save.mutate(
            { id: member.id, name: f.text("name"), email: f.maybe("email"), role: f.text("role") as Member["role"] },
            { onSuccess: onClose },
          )
        }
      >
        <Fields wide>
          <Field label={t`Name`} name="name" defaultValue={member.name} required maxLength={100} autoComplete="off" />
          <Field label={t`Email`} name="email" type="email" defaultValue={member.email ?? ""} autoComplete="off" />
          <Select
            label={t`Role`}
            name="role"
            defaultValue={member.role}
            options={allRoles.map((role) => [role, roleName(role)] as const)}
          />
        </Fields>
        <section>
          <div className="row">
            <h3 className="grow">
              <Trans>Sign-in methods</Trans>
            </h3>
            {signIns.data && !signIns.data.logins.some((l) => l.kind === "password") && (
              <Button kind="quiet" onClick={() => ask("password")}>
                <Trans>Set password</Trans>
              </Button>
            )}
          </div>
          {signIns.data ? (
            <SignInLines logins={signIns.data.logins} onRemove={remove.mutate} busy={remove.isPending} />
          ) : (
            <Skeleton rows={2} />
          )}
          {signIns.data && signIns.data.recovery_codes > 0 && (
            <p className="small dim">
              {plural(
                { count: signIns.data.recovery_codes },
                { one: "# recovery code left", other: "# recovery codes left" },
              )}
            </p>
          )}
        </section>
        {!me && (
          <section>
            <h3>
              <Trans>Invitation</Trans>
            </h3>
            <p className="small dim">
              {member.invited_until
                ? t`Invitation link expires ${{ when: moment(member.invited_until) }}. A new link replaces it.`
                : t`With an invitation link they set their own password or passkey, to join or to regain access.`}
            </p>
            <div className="row wrap">
              <Button kind="quiet" disabled={invite.isPending} onClick={() => invite.mutate(member.id)}>
                {member.invited_until ? t`New link` : t`Invite ${{ name: member.name }}`}
              </Button>
              {member.invited_until && (
                <Button kind="quiet" disabled={withdraw.isPending} onClick={() => withdraw.mutate(member.id)}>
                  <Trans>Cancel invitation</Trans>
                </Button>
              )}
            </div>
          </section>
        )}
        <section>
          <h3>
            <Trans>Sessions</Trans>
          </h3>
          {at.data ? (
            <SessionLines sessions={at.data.sessions} busy={end.isPending} onEnd={end.mutate} />
          ) : (
            <Skeleton rows={2} />
          )}
        </section>
        {!me && (
          <section>
            <h3>
              <Trans>Remove member</Trans>
            </h3>
            <div className="row wrap">
              <Button kind="quiet" onClick={() => ask("remove")}>
                <Trans>Remove {{ name: member.name }}</Trans>
              </Button>
              <Button kind="quiet" onClick={() => ask("erase")}>
                <Trans>Erase {{ name: member.name }} permanently</Trans>
              </Button>
            </div>
          </section>
        )}
      </FormDialog>
      {asks === "remove" && <RemoveMember member={member} onClose={close} onDone={onClose} />}
      {asks === "erase" && <EraseMember member={member} onClose={close} onDone={onClose} />}
      {asks === "password" && <SetPassword member={member} onClose={close} />}
    </>
  );
}
