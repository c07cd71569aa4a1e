import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { keys } from "#/api/keys";
import { assistants, members } from "#/api/people";
import { sorry } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Fields, Note } from "#/ui/Form";
import { Grid, Page } from "#/ui/Page";
import { toasts } from "#/ui/toasts";
import { AgentCard } from "./AgentCard";
import { agentsOf } from "./agents";
import { Limits } from "./Limits";

/** The agents that are let in: what each may do, what it did, and how to end it. */
export function AgentsPage() {
  const { admin, known } = useCan();
  const people = useQuery(members);
  const byKey = useQuery({ ...keys, enabled: admin });
  const byMember = useQueries({ queries: (people.data ?? []).map((m) => assistants(m.id)) });
  const error = people.error ?? byKey.error ?? byMember.find((q) => q.error)?.error;
  const loaded = known && people.data && (byKey.data || !admin) && byMember.every((q) => q.data || q.error);
  const all = agentsOf(
    byKey.data ?? [],
    byMember.flatMap((q) => q.data?.assistants ?? []),
    people.data ?? [],
  );
  return (
    <>
      <Top title="Agents" sub={all.length > 0 ? `${all.length} let in` : undefined} />
      <Page
        aside={
          <>
            <Limits admin={admin} />
            <LetIn />
          </>
        }
      >
        <LookOnly admin />
        {error && <Fault error={error} what="The agents" retry={() => void people.refetch()} />}
        {!loaded && !error && (
          <Card>
            <Bones rows={6} />
          </Card>
        )}
        {loaded && all.length === 0 && (
          <Card>
            <Empty
              title={admin ? "No agent is let in" : "No assistant is let in"}
              action={
                admin && (
                  <Link className="link" to="/household" search={{}}>
                    Make a key for an agent
                  </Link>
                )
              }
            >
              Give an assistant the address under “Let an assistant in”. What it changes carries its sign, and can be
              undone.
            </Empty>
          </Card>
        )}
        {all.length > 0 && (
          <Grid>
            {all.map((a) => (
              <AgentCard key={a.id} agent={a} admin={admin} />
            ))}
          </Grid>
        )}
        {loaded && !admin && <Note>Keys of agents are shown to admins alone.</Note>}
      </Page>
    </>
  );
}

function LetIn() {
  const address = `${location.origin}/mcp`;
  const copy = () => navigator.clipboard.writeText(address).then(() => toasts.say({ text: "Copied" }), sorry);
  return (
    <Card
      title="Let an assistant in"
      foot={
        <Button icon="copy" onClick={() => void copy()}>
          Copy address
        </Button>
      }
    >
      <Fields>
        <p className="dim">
          Give an assistant that speaks MCP this address. It sends you here to sign in and to say what it may do.
        </p>
        <code className="mono">{address}</code>
      </Fields>
    </Card>
  );
}
