import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { runningSyncs } from "#/api/connections";
import type { Overview } from "#/api/overview";
import { session } from "#/api/session";
import { providers } from "#/api/settings";
import { linkBank, useSync } from "#/parts/banks";
import { LookOnly, useCan } from "#/parts/rights";
import { Syncing } from "#/parts/Syncing";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Card, Empty } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Fields, Note } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { Grid, Page } from "#/ui/Page";
import { Begin } from "./Begin";

const names = { plaid: "Plaid", teller: "Teller" } as const;

/** The first minute: an empty household, three ways to fill it, and what it should know before. */
export function Welcome({ overview: o }: { overview: Overview }) {
  const who = useQuery(session).data?.user?.name;
  const can = useCan();
  const linked = o.connections.length > 0;
  return (
    <>
      <Top title={who ? `Welcome, ${who}` : "Welcome"} />
      <Page>
        {linked ? (
          <Arriving />
        ) : (
          <Empty title="Your books are empty, and only yours">
            Everything you bring in stays on this machine. Choose how to begin; you can do the others later.
          </Empty>
        )}
        <LookOnly />
        {!linked && can.write && <Ways />}
        {can.known && <Begin may={can.admin} />}
        {can.write && (
          <Card title="Then, when there is something to see" flush>
            <Lines>
              <Item
                mark={<Tile tone={4} icon="child" />}
                name="Invite who shares the money"
                hint="Each with a sign-in and a role of their own"
                open={(name) => (
                  <Link to="/household" search={{}}>
                    {name}
                  </Link>
                )}
              />
              <Item
                mark={<Tile tone={10} icon="spark" />}
                name="Let an agent tidy up"
                hint="It files and asks; every change says who made it, and can be undone"
                open={(name) => (
                  <Link to="/agents" search={{}}>
                    {name}
                  </Link>
                )}
              />
            </Lines>
          </Card>
        )}
      </Page>
    </>
  );
}

function Ways() {
  const { data } = useQuery(providers);
  const ways = (["plaid", "teller"] as const).filter((p) => data?.[p].configured);
  return (
    <Grid>
      <Card>
        <Fields>
          <Tile tone={1} icon="bank" large />
          <h2>Link a bank</h2>
          <p className="dim">
            Sign in at your bank; payments come by themselves from then on. Takes about three minutes.
          </p>
          <span className="row wrap">
            {ways.map((p, i) => (
              <Button key={p} kind={i === 0 ? "filled" : "plain"} onClick={() => void linkBank(p, "/")}>
                {i === 0 ? "Link a bank" : `With ${names[p]}`}
              </Button>
            ))}
          </span>
          {data && ways.length === 0 && (
            <p className="small dim">An admin first enters the keys of Plaid or Teller under Settings.</p>
          )}
        </Fields>
      </Card>
      <Card>
        <Fields>
          <Tile tone={7} icon="file" large />
          <h2>Drop a file</h2>
          <p className="dim">A statement as CSV, from any bank. You see what would come in before anything is saved.</p>
          <Link className="link" to="/import" search={{}}>
            Choose a file
          </Link>
        </Fields>
      </Card>
      <Card>
        <Fields>
          <Tile tone={10} icon="play" large />
          <h2>Look around first</h2>
          <p className="dim">
            A made-up household with years of payments, in a database of its own. On the server, run this; it prints the
            address to open.
          </p>
          <p>
            <code className="mono">coffer demo</code>
          </p>
          <p className="small dim">
            <code className="mono">coffer demo --drop</code> removes it again.
          </p>
        </Fields>
      </Card>
    </Grid>
  );
}

/** A bank is linked and its first payments are on their way; the overview fills when they are here. */
function Arriving() {
  const running = useQuery({ ...runningSyncs, refetchInterval: 1500 });
  const sync = useSync(running.data?.sync_logs[0]?.job_id);
  return (
    <>
      <Empty title="Your payments are on their way">
        The bank is being read, which takes a minute or two. The overview fills by itself.
      </Empty>
      {sync.job ? <Syncing job={sync.job} onEnd={sync.over} /> : <Note>Waits for the bank to answer</Note>}
    </>
  );
}
