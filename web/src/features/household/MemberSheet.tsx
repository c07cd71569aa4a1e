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
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { SessionLines, SignInLines } from "#/parts/SignIns";
import { Button } from "#/ui/Button";
import { Bones } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Fields, Select } from "#/ui/Form";
import { Invited } from "./Invited";
import { EraseMember, RemoveMember, SetPassword } from "./Leaving";
import { roles } from "./roles";

type Asks = "remove" | "erase" | "password" | null;

/** One member: role, ways to sign in, and where they are signed in. */
export function MemberSheet({ member, me, onClose }: { member: Member; me: boolean; onClose: () => void }) {
  const [asks, ask] = useState<Asks>(null);
  const ways = useQuery(logins(member.id));
  const at = useQuery(sessions(member.id));
  const save = useDeed({ act: changeMember, proof: true, touches: ["users", "session"], said: "Saved", quiet: true });
  const remove = useDeed({
    act: removeLogin,
    proof: true,
    touches: ["users"],
    said: "They cannot sign in that way any more",
  });
  const invite = useDeed({ act: inviteMember, proof: true, touches: ["users"] });
  const withdraw = useDeed({ act: voidInvitation, touches: ["users"], said: "The invitation opens nothing any more" });
  const end = useDeed({ act: endSession, touches: ["users"], said: "Signed out there" });
  const close = () => ask(null);
  if (invite.data) return <Invited name={member.name} made={invite.data} onDone={() => invite.reset()} />;
  return (
    <>
      <FormDialog
        open={asks === null}
        onClose={onClose}
        title={member.name}
        hint={`${roles[member.role].name}: ${roles[member.role].may}.`}
        act="Save"
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
          <Field label="Name" name="name" defaultValue={member.name} required maxLength={100} autoComplete="off" />
          <Field
            label="E-mail address"
            name="email"
            type="email"
            defaultValue={member.email ?? ""}
            autoComplete="off"
          />
          <Select
            label="Role"
            name="role"
            defaultValue={member.role}
            options={Object.entries(roles).map(([role, r]) => [role, r.name] as const)}
          />
        </Fields>
        <section>
          <div className="row">
            <h3 className="grow">Ways to sign in</h3>
            {ways.data && !ways.data.logins.some((l) => l.kind === "password") && (
              <Button kind="quiet" onClick={() => ask("password")}>
                Set a password
              </Button>
            )}
          </div>
          {ways.data ? (
            <SignInLines logins={ways.data.logins} onRemove={remove.mutate} busy={remove.isPending} />
          ) : (
            <Bones rows={2} />
          )}
          {ways.data && ways.data.recovery_codes > 0 && (
            <p className="small dim">{ways.data.recovery_codes} recovery codes are left.</p>
          )}
        </section>
        {!me && (
          <section>
            <h3>Invitation</h3>
            <p className="small dim">
              {member.invited_until
                ? `A link works until ${moment(member.invited_until)}. A new one ends it.`
                : "With a link they set their own password or passkey: to join, or when they cannot sign in any more."}
            </p>
            <div className="row wrap">
              <Button kind="quiet" disabled={invite.isPending} onClick={() => invite.mutate(member.id)}>
                {member.invited_until ? "Make a new link" : `Invite ${member.name}`}
              </Button>
              {member.invited_until && (
                <Button kind="quiet" disabled={withdraw.isPending} onClick={() => withdraw.mutate(member.id)}>
                  End the invitation
                </Button>
              )}
            </div>
          </section>
        )}
        <section>
          <h3>Signed in at</h3>
          {at.data ? (
            <SessionLines sessions={at.data.sessions} busy={end.isPending} onEnd={end.mutate} />
          ) : (
            <Bones rows={2} />
          )}
        </section>
        {!me && (
          <section>
            <h3>Leaving the household</h3>
            <div className="row wrap">
              <Button kind="quiet" onClick={() => ask("remove")}>
                Remove {member.name}
              </Button>
              <Button kind="quiet" onClick={() => ask("erase")}>
                Erase {member.name} for good
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
