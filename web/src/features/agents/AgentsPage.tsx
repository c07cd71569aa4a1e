import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { keys } from "#/api/keys";
import { assistants, members } from "#/api/people";
import { showError } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Fields, Note } from "#/ui/Form";
import { Grid, Page } from "#/ui/Page";
import { toasts } from "#/ui/toasts";
import { AgentCard } from "./AgentCard";
import { agentsOf } from "./agents";

/** The connected agents: their permissions and activity, and how to revoke access. */
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
      <PageHeader
        title={t`AI agents`}
        sub={all.length > 0 ? plural({ count: all.length }, { one: "# connected", other: "# connected" }) : undefined}
      />
      <Page aside={<LetIn />}>
        <LookOnly admin />
        {error && <Fault error={error} what={t`agents`} retry={() => void people.refetch()} />}
        {!loaded && !error && (
          <Card>
            <Skeleton rows={6} />
          </Card>
        )}
        {loaded && all.length === 0 && (
          <Card>
            <Empty
              title={admin ? t`No agents connected` : t`No assistants connected`}
              action={
                admin && (
                  <Link className="link" to="/settings/keys" search={{}}>
                    <Trans>Create agent key</Trans>
                  </Link>
                )
              }
            >
              <Trans>
                Connect an assistant with the MCP server URL on this page. You can see and undo everything it changes.
              </Trans>
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
        {loaded && !admin && (
          <Note>
            <Trans>Only admins can see agent keys.</Trans>
          </Note>
        )}
      </Page>
    </>
  );
}

function LetIn() {
  const address = `${location.origin}/mcp`;
  const copy = () => navigator.clipboard.writeText(address).then(() => toasts.say({ text: t`Copied` }), showError);
  return (
    <Card
      title={t`Connect an assistant`}
      foot={
        <Button icon="copy" onClick={() => void copy()}>
          <Trans>Copy URL</Trans>
        </Button>
      }
    >
      <Fields>
        <p className="dim">
          <Trans>
            Add this MCP server URL to Claude, ChatGPT or another assistant. You’ll sign in here and choose what it can
            do.
          </Trans>
        </p>
        <code className="mono">{address}</code>
      </Fields>
    </Card>
  );
}
