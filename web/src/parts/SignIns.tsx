import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import type { Session, SignIn } from "#/api/people";
import { session } from "#/api/session";
import { moment } from "#/lib/dates";
import { Button } from "#/ui/Button";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";

const kinds = { password: msg`Password`, passkey: msg`Passkey`, oidc: msg`Single sign-on` };

export const used = (at: string | null) => (at ? t`last used ${{ when: moment(at) }}` : t`never used`);

/** The sign-in methods of a member. With `onRemove`, each has a button that removes it. */
export function SignInLines(p: { logins: readonly SignIn[]; onRemove?: (l: SignIn) => void; busy?: boolean }) {
  if (p.logins.length === 0)
    return (
      <p className="dim">
        <Trans>None. This member can’t sign in yet.</Trans>
      </p>
    );
  return (
    <Lines>
      {p.logins.map((l) => (
        <Item
          key={l.id}
          mark={<Icon name={l.kind === "password" ? "lock" : l.kind === "passkey" ? "key" : "link"} />}
          name={i18n._(kinds[l.kind])}
          hint={
            <>
              {l.kind !== "password" && <bdi>{l.identifier} · </bdi>}
              {used(l.last_used_at)}
            </>
          }
          end={
            p.onRemove && (
              <Button kind="quiet" disabled={p.busy} onClick={() => p.onRemove?.(l)}>
                <Trans>Remove</Trans>
              </Button>
            )
          }
        />
      ))}
    </Lines>
  );
}

/** The sessions of a member, each with a button to end it. */
export function SessionLines(p: { sessions: readonly Session[]; onEnd: (s: Session) => void; busy?: boolean }) {
  const here = useQuery(session).data?.session?.id;
  if (p.sessions.length === 0)
    return (
      <p className="dim">
        <Trans>No active sessions.</Trans>
      </p>
    );
  return (
    <Lines>
      {p.sessions.map((s) => (
        <Item
          key={s.id}
          mark={<Icon name={/phone|android|ios/i.test(s.name) ? "phone" : "screen"} />}
          name={<bdi>{s.name}</bdi>}
          hint={t`signed in ${{ when: moment(s.created_at) }} · ${{ used: used(s.last_used_at) }}`}
          end={
            s.id === here ? (
              <Badge mood="act">
                <Trans>This browser</Trans>
              </Badge>
            ) : (
              <Button kind="quiet" disabled={p.busy} onClick={() => p.onEnd(s)}>
                <Trans>Sign out</Trans>
              </Button>
            )
          }
        />
      ))}
    </Lines>
  );
}
