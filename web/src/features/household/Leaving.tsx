import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { addPassword, eraseMember, type Member, members, removeMember } from "#/api/people";
import { useDeed } from "#/parts/deed";
import { FormDialog } from "#/parts/FormDialog";
import { Bones } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Note, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";

type Asked = { member: Member; onClose: () => void; onDone: () => void };

/** What tables hold, in the household's words; the others speak for themselves. */
const words: Record<string, string> = {
  transaction: "payments",
  connection: "banks",
  account: "accounts",
  token: "sessions, keys and assistants",
  login: "ways to sign in",
  app_user: "members",
};

const touches = ["users", "overview", "accounts", "connections"];

/** Ends a membership; what it brought stays, with someone else. */
export function RemoveMember({ member, onClose, onDone }: Asked) {
  const others = (useQuery(members).data ?? []).filter((m) => m.id !== member.id);
  const remove = useDeed({
    act: removeMember,
    proof: true,
    touches,
    said: `${member.name} is no longer in the household`,
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Remove ${member.name}?`}
      hint="They cannot sign in any more, and their keys and assistants end. What they did stays, under their name."
      act={`Remove ${member.name}`}
      fault
      busy={remove.isPending}
      error={remove.error}
      onSubmit={(f) => remove.mutate({ id: member.id, reassign_to: f.text("to") || undefined }, { onSuccess: onDone })}
    >
      <Select
        label="Their banks and accounts go to"
        name="to"
        options={[["", "Nobody: they have none"], ...others.map((m) => [m.id, m.name] as const)]}
      />
    </FormDialog>
  );
}

/** Erases a person for good, after it was said what goes. */
export function EraseMember({ member, onClose, onDone }: Asked) {
  const look = useDeed({ act: eraseMember, proof: true, touches: [] });
  const erase = useDeed({
    act: eraseMember,
    proof: true,
    touches: [...touches, "transactions", "changes"],
    said: (r) => (r.job_id ? `${member.name} is being erased` : `${member.name} is erased`),
    quiet: true,
  });
  const { mutate } = look;
  useEffect(() => mutate({ id: member.id, dry_run: true }), [mutate, member.id]);
  const rows = (list: { table: string; rows: number }[]) =>
    list
      .filter((g) => g.rows > 0)
      .map((g) => [words[g.table] ?? g.table.replaceAll("_", " "), g.rows.toLocaleString("en")] as const);
  const seen = look.data;
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Erase ${member.name} for good?`}
      hint="Their banks, accounts and payments go with them. This is the one thing here that cannot be undone; an export taken before is the only way back."
      act={`Erase ${member.name}`}
      fault
      busy={!seen || erase.isPending}
      error={erase.error ?? look.error}
      onSubmit={() => erase.mutate({ id: member.id, dry_run: false }, { onSuccess: onDone })}
    >
      {seen ? (
        <>
          <h3>Goes</h3>
          {rows(seen.erased).length ? (
            <Facts facts={rows(seen.erased)} />
          ) : (
            <p className="dim">Nothing but the member.</p>
          )}
          {rows(seen.unnamed).length > 0 && (
            <>
              <h3>Stays, without their name</h3>
              <Facts facts={rows(seen.unnamed)} />
            </>
          )}
          {seen.released_accounts > 0 && (
            <Note>{seen.released_accounts} accounts at another member’s bank stay, and are theirs.</Note>
          )}
        </>
      ) : (
        !look.error && <Bones rows={3} />
      )}
    </FormDialog>
  );
}

export function SetPassword({ member, onClose }: { member: Member; onClose: () => void }) {
  const set = useDeed({ act: addPassword, proof: true, touches: ["users"], said: "Password set", quiet: true });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Set a password for ${member.name}`}
      hint="Tell it to them yourself; at the next sign-in they must replace it by one that you do not know. An invitation spares you both."
      act="Set password"
      busy={set.isPending}
      error={set.error}
      onSubmit={(f) => set.mutate({ user_id: member.id, password: f.text("password") }, { onSuccess: onClose })}
    >
      <Field label="Password" name="password" type="password" minLength={10} required autoComplete="new-password" />
    </FormDialog>
  );
}
