import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { endMyAssistant, endMySession, myAssistants, myLogins, mySessions, removeMyLogin } from "#/api/me";
import type { Assistant, SignIn } from "#/api/people";
import { session } from "#/api/session";
import { moment } from "#/lib/dates";
import { shortName } from "#/lib/names";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { PageHeader } from "#/parts/PageHeader";
import { RecoveryItem } from "#/parts/Recovery";
import { SessionLines, SignInLines, used } from "#/parts/SignIns";
import { useAction } from "#/parts/useAction";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Calendars } from "./Calendars";
import { Formats } from "./Formats";
import { Look } from "./Look";

/** The member's own sign-in methods, sessions, assistants, language and region. */
export function MePage() {
  const me = useQuery(session).data?.user;
  return (
    <>
      <PageHeader title={me?.name ?? t`You`} sub={me?.email}>
        <form method="post" action="/logout">
          <Button type="submit">
            <Trans>Sign out</Trans>
          </Button>
        </form>
      </PageHeader>
      <Page>
        <SignInMethods />
        <SignedIn />
        <Calendars />
        <Assistants />
        <Formats />
        <Look />
      </Page>
    </>
  );
}

function Assistants() {
  const list = useQuery(myAssistants);
  const [asks, ask] = useState<Assistant | null>(null);
  const end = useAction({
    act: endMyAssistant,
    touches: ["me", "users"],
    text: t`Assistant access revoked`,
  });
  const all = list.data?.assistants ?? [];
  return (
    <Card title={t`Your assistants`} flush>
      {list.error && <Fault error={list.error} what={t`your assistants`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={2} />}
      <Lines label={t`Your assistants`}>
        {list.data && all.length === 0 && (
          <Item
            name={t`No connected assistants`}
            hint={t`Assistants you connect under AI agents appear here`}
            open={(name) => (
              <Link to="/agents/assistants" search={{}}>
                {name}
              </Link>
            )}
          />
        )}
        {all.map((a) => (
          <Item
            key={a.id}
            mark={<AuthorBadge author={{ kind: "agent", name: a.name }} large />}
            name={<bdi>{a.name}</bdi>}
            hint={[
              a.scope === "full_access" ? t`can edit` : t`view only`,
              t`connected ${{ when: moment(a.created_at) }}`,
              used(a.last_used_at),
              t`expires ${{ when: moment(a.expires_at) }}`,
            ].join(" · ")}
            end={
              <>
                <Link className="link" to="/activity" search={{ actor: a.id }}>
                  <Trans>View activity</Trans>
                </Link>
                <Button kind="quiet" onClick={() => ask(a)}>
                  <Trans>Revoke access</Trans>
                </Button>
              </>
            }
          />
        ))}
      </Lines>
      {asks && (
        <FormDialog
          open
          onClose={() => ask(null)}
          title={t`Revoke access for ${{ name: shortName(asks.name) }}?`}
          hint={t`It loses access immediately. Its past changes are kept; you can undo them in Activity.`}
          act={t`Revoke access`}
          fault
          busy={end.isPending}
          onSubmit={() => end.mutate(asks.id, { onSettled: () => ask(null) })}
        />
      )}
    </Card>
  );
}

function SignedIn() {
  const list = useQuery(mySessions);
  const end = useAction({ act: endMySession, touches: ["me"], text: t`Session ended` });
  return (
    <Card title={t`Active sessions`} flush>
      {list.error && <Fault error={list.error} what={t`your sessions`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={2} />}
      {list.data && <SessionLines sessions={list.data.sessions} busy={end.isPending} onEnd={(s) => end.mutate(s.id)} />}
    </Card>
  );
}

function SignInMethods() {
  const list = useQuery(myLogins);
  const [asks, ask] = useState<SignIn | null>(null);
  const remove = useAction({
    act: removeMyLogin,
    reauth: true,
    touches: ["me"],
    text: t`Sign-in method removed`,
    quiet: true,
  });
  return (
    <Card
      title={t`Sign-in methods`}
      flush
      foot={
        <a className="link" href="/account">
          <Trans>Manage password, passkeys and recovery codes</Trans>
        </a>
      }
    >
      {list.error && <Fault error={list.error} what={t`your sign-in methods`} retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Skeleton rows={2} />}
      {list.data && <SignInLines logins={list.data.logins} onRemove={list.data.logins.length > 1 ? ask : undefined} />}
      {list.data && (
        <Lines>
          <RecoveryItem left={list.data.recovery_codes} />
        </Lines>
      )}
      {asks && (
        <FormDialog
          open
          onClose={() => ask(null)}
          title={t`Remove sign-in method?`}
          hint={t`You can add it again later.`}
          act={t`Remove`}
          fault
          busy={remove.isPending}
          error={remove.error}
          onSubmit={() => remove.mutate(asks.id, { onSuccess: () => ask(null) })}
        />
      )}
    </Card>
  );
}
