import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { endMyAssistant, endMySession, myAssistants, myLogins, mySessions, removeMyLogin } from "#/api/me";
import type { Assistant, SignIn } from "#/api/people";
import { session } from "#/api/session";
import { moment } from "#/lib/dates";
import { shortName } from "#/lib/names";
import { useDeed } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { SessionLines, SignInLines, used } from "#/parts/SignIns";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Seal } from "#/ui/Seal";

/** One's own: how one signs in, where one is signed in, and which assistants act in one's name. */
export function MePage() {
  const me = useQuery(session).data?.user;
  return (
    <>
      <Top title={me?.name ?? "You"} sub={me?.email}>
        <form method="post" action="/logout">
          <Button type="submit">Sign out</Button>
        </form>
      </Top>
      <Page>
        <Ways />
        <SignedIn />
        <Assistants />
      </Page>
    </>
  );
}

function Assistants() {
  const list = useQuery(myAssistants);
  const [asks, ask] = useState<Assistant | null>(null);
  const end = useDeed({
    act: endMyAssistant,
    touches: ["me", "users"],
    said: "The assistant is ended and let in no more",
  });
  const all = list.data?.assistants ?? [];
  return (
    <Card title="Your assistants" flush>
      {list.error && <Fault error={list.error} what="Your assistants" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={2} />}
      <Lines label="Your assistants">
        {list.data && all.length === 0 && (
          <Item
            name="No assistant acts in your name"
            hint="One that you let in under Agents is listed here, and ended here"
            open={(name) => (
              <Link to="/agents" search={{}}>
                {name}
              </Link>
            )}
          />
        )}
        {all.map((a) => (
          <Item
            key={a.id}
            mark={<Seal maker={{ kind: "agent", name: a.name }} large />}
            name={<bdi>{a.name}</bdi>}
            hint={`${a.scope === "full_access" ? "can change things" : "only reads"}, let in ${moment(a.created_at)}, ${used(a.last_used_at)}, until ${moment(a.expires_at)}`}
            end={
              <>
                <Link className="link" to="/activity" search={{ actor: a.id }}>
                  What it did
                </Link>
                <Button kind="quiet" onClick={() => ask(a)}>
                  End
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
          title={`End ${shortName(asks.name)}?`}
          hint="It is refused from its next request on. What it did stays until you undo it in Activity."
          act={`End ${shortName(asks.name)}`}
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
  const end = useDeed({ act: endMySession, touches: ["me"], said: "Signed out there" });
  return (
    <Card title="Where you are signed in" flush>
      {list.error && <Fault error={list.error} what="Your sessions" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={2} />}
      {list.data && <SessionLines sessions={list.data.sessions} busy={end.isPending} onEnd={(s) => end.mutate(s.id)} />}
    </Card>
  );
}

function Ways() {
  const list = useQuery(myLogins);
  const [asks, ask] = useState<SignIn | null>(null);
  const remove = useDeed({ act: removeMyLogin, proof: true, touches: ["me"], said: "Removed", quiet: true });
  return (
    <Card
      title="How you sign in"
      flush
      foot={
        <a className="link" href="/account">
          Change your password, add a passkey, make recovery codes
        </a>
      }
    >
      {list.error && <Fault error={list.error} what="How you sign in" retry={() => void list.refetch()} />}
      {!list.data && !list.error && <Bones rows={2} />}
      {list.data && <SignInLines logins={list.data.logins} onRemove={list.data.logins.length > 1 ? ask : undefined} />}
      {asks && (
        <FormDialog
          open
          onClose={() => ask(null)}
          title="Remove this way to sign in?"
          hint="You can add it again on your account page."
          act="Remove"
          fault
          busy={remove.isPending}
          error={remove.error}
          onSubmit={() => remove.mutate(asks.id, { onSuccess: () => ask(null) })}
        />
      )}
    </Card>
  );
}
