import { useQuery } from "@tanstack/react-query";
import type { Session, SignIn } from "#/api/people";
import { session } from "#/api/session";
import { moment } from "#/lib/dates";
import { Button } from "#/ui/Button";
import { Badge } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Item, Lines } from "#/ui/Lines";

const kinds = { password: "Password", passkey: "Passkey", oidc: "Sign-in by another service" } as const;

export const used = (at: string | null) => (at ? `last used ${moment(at)}` : "not used yet");

/** How a member can sign in; each can be removed where that is allowed. */
export function SignInLines(p: { logins: readonly SignIn[]; onRemove?: (l: SignIn) => void; busy?: boolean }) {
  if (p.logins.length === 0) return <p className="dim">None. They cannot sign in.</p>;
  return (
    <Lines>
      {p.logins.map((l) => (
        <Item
          key={l.id}
          mark={<Icon name={l.kind === "password" ? "lock" : l.kind === "passkey" ? "key" : "link"} />}
          name={kinds[l.kind]}
          hint={
            <>
              {l.kind !== "password" && <bdi>{l.identifier} · </bdi>}
              {used(l.last_used_at)}
            </>
          }
          end={
            p.onRemove && (
              <Button kind="quiet" disabled={p.busy} onClick={() => p.onRemove?.(l)}>
                Remove
              </Button>
            )
          }
        />
      ))}
    </Lines>
  );
}

/** Where a member is signed in, and how to end it. */
export function SessionLines(p: { sessions: readonly Session[]; onEnd: (s: Session) => void; busy?: boolean }) {
  const here = useQuery(session).data?.session?.id;
  if (p.sessions.length === 0) return <p className="dim">Nowhere.</p>;
  return (
    <Lines>
      {p.sessions.map((s) => (
        <Item
          key={s.id}
          mark={<Icon name={/phone|android|ios/i.test(s.name) ? "phone" : "screen"} />}
          name={<bdi>{s.name}</bdi>}
          hint={`since ${moment(s.created_at)}, ${used(s.last_used_at)}`}
          end={
            s.id === here ? (
              <Badge mood="act">This browser</Badge>
            ) : (
              <Button kind="quiet" disabled={p.busy} onClick={() => p.onEnd(s)}>
                Sign out
              </Button>
            )
          }
        />
      ))}
    </Lines>
  );
}
