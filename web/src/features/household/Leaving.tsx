import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { addPassword, eraseMember, type Member, members, removeMember } from "#/api/people";
import { number } from "#/lib/words";
import { FormDialog } from "#/parts/FormDialog";
import { useAction } from "#/parts/useAction";
import { Skeleton } from "#/ui/Card";
import { Field } from "#/ui/Field";
import { Note, Select } from "#/ui/Form";
import { Facts } from "#/ui/Page";

type Props = { member: Member; onClose: () => void; onDone: () => void };

/** The names of tables for people. A table without one is shown by its own name. */
const words: Record<string, MessageDescriptor> = {
  transaction: msg`transactions`,
  connection: msg`banks`,
  account: msg`accounts`,
  token: msg`sessions, keys and assistants`,
  login: msg`sign-in methods`,
  app_user: msg({ message: "members", context: "a kind of record" }),
};

const tableName = (table: string) => {
  const named = words[table];
  return named ? i18n._(named) : table.replaceAll("_", " ");
};

const touches = ["users", "overview", "accounts", "connections"];

/** Removes a member. Another member takes over their banks and accounts. */
export function RemoveMember({ member, onClose, onDone }: Props) {
  const others = (useQuery(members).data ?? []).filter((m) => m.id !== member.id);
  const remove = useAction({
    act: removeMember,
    reauth: true,
    touches,
    text: t({ message: `${{ name: member.name }} removed`, context: "a person" }),
    quiet: true,
  });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Remove ${{ name: member.name }}?`}
      hint={t`They lose access, and their API keys and assistants are revoked. Their past changes are kept under their name.`}
      act={t`Remove ${{ name: member.name }}`}
      fault
      busy={remove.isPending}
      error={remove.error}
      onSubmit={(f) => remove.mutate({ id: member.id, reassign_to: f.text("to") || undefined }, { onSuccess: onDone })}
    >
      <Select
        label={t`Transfer banks and accounts to`}
        name="to"
        options={[["", t`No one (they have none)`], ...others.map((m) => [m.id, m.name] as const)]}
      />
    </FormDialog>
  );
}

/** Erases a member permanently, after showing what will be deleted. */
export function EraseMember({ member, onClose, onDone }: Props) {
  const look = useAction({ act: eraseMember, reauth: true, touches: [] });
  const erase = useAction({
    act: eraseMember,
    reauth: true,
    touches: [...touches, "transactions", "changes"],
    text: (r) => (r.job_id ? t`Erasing ${{ name: member.name }}…` : t`${{ name: member.name }} erased`),
    quiet: true,
  });
  const { mutate } = look;
  useEffect(() => mutate({ id: member.id, dry_run: true }), [mutate, member.id]);
  const rows = (list: { table: string; rows: number }[]) =>
    list.filter((g) => g.rows > 0).map((g) => [tableName(g.table), number(g.rows)] as const);
  const preview = look.data;
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Erase ${{ name: member.name }} permanently?`}
      hint={t`This permanently deletes their banks, accounts and transactions. You can’t undo it, so export your data first.`}
      act={t`Erase ${{ name: member.name }}`}
      fault
      busy={!preview || erase.isPending}
      error={erase.error ?? look.error}
      onSubmit={() => erase.mutate({ id: member.id, dry_run: false }, { onSuccess: onDone })}
    >
      {preview ? (
        <>
          <h3>
            <Trans>Will be deleted</Trans>
          </h3>
          {rows(preview.erased).length ? (
            <Facts facts={rows(preview.erased)} />
          ) : (
            <p className="dim">
              <Trans>Only the member.</Trans>
            </p>
          )}
          {rows(preview.unnamed).length > 0 && (
            <>
              <h3>
                <Trans>Kept without their name</Trans>
              </h3>
              <Facts facts={rows(preview.unnamed)} />
            </>
          )}
          {preview.released_accounts > 0 && (
            <Note>
              {plural(
                { count: preview.released_accounts },
                {
                  one: "# account at another member’s bank is kept and will belong to that member.",
                  other: "# accounts at other members’ banks are kept and will belong to those members.",
                },
              )}
            </Note>
          )}
        </>
      ) : (
        !look.error && <Skeleton rows={3} />
      )}
    </FormDialog>
  );
}

export function SetPassword({ member, onClose }: { member: Member; onClose: () => void }) {
  const set = useAction({ act: addPassword, reauth: true, touches: ["users"], text: t`Password set`, quiet: true });
  return (
    <FormDialog
      open
      onClose={onClose}
      title={t`Set password for ${{ name: member.name }}`}
      hint={t`Share it with them yourself. They’ll have to choose a new one when they sign in. An invitation link is easier.`}
      act={t`Set password`}
      busy={set.isPending}
      error={set.error}
      onSubmit={(f) => set.mutate({ user_id: member.id, password: f.text("password") }, { onSuccess: onClose })}
    >
      <Field label={t`Password`} name="password" type="password" minLength={10} required autoComplete="new-password" />
    </FormDialog>
  );
}
