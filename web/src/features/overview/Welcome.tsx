import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { runningSyncs } from "#/api/connections";
import { myLogins } from "#/api/me";
import type { Overview } from "#/api/overview";
import { bankProviders, fitting } from "#/api/providers";
import { session } from "#/api/session";
import { region } from "#/lib/locale";
import { useSync } from "#/parts/banks";
import { LinkBank } from "#/parts/LinkBank";
import { NoProvider } from "#/parts/NoProvider";
import { PageHeader } from "#/parts/PageHeader";
import { RecoveryItem } from "#/parts/Recovery";
import { LookOnly, useCan } from "#/parts/rights";
import { Syncing } from "#/parts/Syncing";
import { Card, Empty } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Fields, Note } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { Grid, Page } from "#/ui/Page";
import { Begin } from "./Begin";

/** Welcomes an empty household: three ways to add transactions, and the settings to choose first. */
export function Welcome({ overview: o }: { overview: Overview }) {
  const who = useQuery(session).data?.user?.name;
  const can = useCan();
  const linked = o.connections.length > 0;
  const codes = useQuery(myLogins).data?.recovery_codes;
  return (
    <>
      <PageHeader title={who ? t`Welcome, ${who}` : t`Welcome`} />
      <Page>
        {linked ? (
          <Arriving />
        ) : (
          <Empty title={t`Let’s get your money in`}>
            <Trans>Everything stays on your own server. Pick a way to start; you can add the others later.</Trans>
          </Empty>
        )}
        <LookOnly />
        {!linked && can.write && <ConnectOptions />}
        {can.known && <Begin may={can.admin} />}
        {can.write && (
          <Card title={t`Next steps`} flush>
            <Lines>
              <Item
                mark={<Tile tone={4} icon="child" />}
                name={t`Invite your household`}
                hint={t`Everyone gets their own sign-in and role`}
                open={(name) => (
                  <Link to="/settings/members" search={{}}>
                    {name}
                  </Link>
                )}
              />
              <Item
                mark={<Tile tone={10} icon="spark" />}
                name={t`Connect an AI agent`}
                hint={t`It categorizes and asks questions. You can undo anything it does.`}
                open={(name) => (
                  <Link to="/agents/assistants" search={{}}>
                    {name}
                  </Link>
                )}
              />
              {codes === 0 && <RecoveryItem left={0} />}
            </Lines>
          </Card>
        )}
      </Page>
    </>
  );
}

function ConnectOptions() {
  const { data } = useQuery(bankProviders);
  const configured = fitting(data ?? [], region);
  return (
    <Grid>
      <Card>
        <Fields>
          <Tile tone={1} icon="bank" large />
          <h2>
            <Trans>Connect a bank</Trans>
          </h2>
          <p className="dim">
            <Trans>Sign in at your bank and new transactions arrive automatically. Takes about three minutes.</Trans>
          </p>
          <span className="row wrap">
            {configured.map((p, i) => (
              <LinkBank key={p.name} offer={p} kind={i === 0 ? "filled" : "plain"} path="/">
                {i === 0 ? t`Connect a bank` : t`Use ${{ provider: p.title }}`}
              </LinkBank>
            ))}
          </span>
          {data && configured.length === 0 && <NoProvider all={data} />}
        </Fields>
      </Card>
      <Card>
        <Fields>
          <Tile tone={7} icon="file" large />
          <h2>
            <Trans>Import a statement</Trans>
          </h2>
          <p className="dim">
            <Trans>Upload a file from any bank. You’ll see a preview before anything is saved.</Trans>
          </p>
          <Link className="link" to="/import" search={{}}>
            <Trans>Choose file</Trans>
          </Link>
        </Fields>
      </Card>
      <Card>
        <Fields>
          <Tile tone={10} icon="play" large />
          <h2>
            <Trans>Explore the demo</Trans>
          </h2>
          <p className="dim">
            <Trans>A sample household with years of transactions, in its own database. Run this on the server:</Trans>
          </p>
          <p>
            <code className="mono">coffer demo</code>
          </p>
          <p className="small dim">
            <Trans>
              Remove it later with <code className="mono">coffer demo --drop</code>.
            </Trans>
          </p>
        </Fields>
      </Card>
    </Grid>
  );
}

/** Shown after a bank was connected, while its first sync runs. The overview opens when the sync is done. */
function Arriving() {
  const running = useQuery({ ...runningSyncs, refetchInterval: 1500 });
  const sync = useSync(running.data?.sync_logs[0]?.job_id);
  return (
    <>
      <Empty title={t`Importing your transactions…`}>
        <Trans>This takes a minute or two. Your overview will fill in automatically.</Trans>
      </Empty>
      {sync.job ? (
        <Syncing job={sync.job} onEnd={sync.over} />
      ) : (
        <Note>
          <Trans>Waiting for the bank…</Trans>
        </Note>
      )}
    </>
  );
}
