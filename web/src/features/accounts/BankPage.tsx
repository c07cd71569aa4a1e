import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { accounts } from "#/api/accounts";
import { connections, runningSyncs, syncHealth } from "#/api/connections";
import { overview } from "#/api/overview";
import { bankProviders } from "#/api/providers";
import { moment, since } from "#/lib/dates";
import { fromFiles } from "#/lib/provider";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Facts, Page } from "#/ui/Page";
import { Bank } from "./Bank";
import { BankForm } from "./BankForm";
import { SetAside } from "./SetAside";
import { SyncLog } from "./SyncLog";

/** One bank: its state, unreadable rows, sync log and settings. */
export function BankPage() {
  const { id } = useParams({ from: "/banks/$id" });
  const all = useQuery(accounts);
  const banks = useQuery(connections);
  const health = useQuery(syncHealth);
  const running = useQuery(runningSyncs);
  const members = useQuery(overview).data?.members;
  const offers = useQuery(bankProviders).data;
  const may = useCan().write;
  const b = banks.data?.find((x) => x.short_id === id || x.id === id);
  const offer = offers?.find((p) => p.name === b?.provider);
  const by = offer?.kind === "files" ? t`Statement files` : offer?.title;
  const h = health.data?.connections.find((x) => x.id === b?.id);
  const error = banks.error ?? health.error ?? all.error;
  const again = () => void Promise.all([all.refetch(), banks.refetch(), health.refetch()]);
  return (
    <>
      <PageHeader
        title={b?.institution_name ?? t`Bank`}
        sub={
          <Link className="link" to="/accounts" search={{}}>
            <Trans>All accounts</Trans>
          </Link>
        }
      />
      {banks.data && !b && (
        <Empty
          title={t`Bank not found`}
          action={
            <Link className="link" to="/accounts" search={{}}>
              <Trans>All accounts</Trans>
            </Link>
          }
        />
      )}
      <Page
        aside={
          b && (
            <>
              <Card title={t`Connection`}>
                <Facts
                  facts={[
                    [t`Connected`, [by, moment(b.created_at)].filter(Boolean).join(" · ")],
                    [t`Connected by`, members?.find((m) => m.id === b.user_id)?.name ?? t`Someone`],
                    [t`Last synced`, b.last_sync_at ? since(b.last_sync_at) : t`Never`],
                    ...(fromFiles(b)
                      ? []
                      : ([
                          [t`Last attempt`, b.last_attempt_at ? since(b.last_attempt_at) : t`Never`],
                          [
                            t`Next sync`,
                            b.next_sync_at ? t`About ${{ time: since(b.next_sync_at) }}` : t`Not scheduled`,
                          ],
                          [
                            t`Bank access`,
                            b.consent_expires_at ? t`Until ${{ day: since(b.consent_expires_at) }}` : t`No expiry`,
                          ],
                        ] as const)),
                    ...(h && h.consecutive_failures > 0
                      ? ([
                          [t`Failed syncs`, plural(h.consecutive_failures, { one: "# in a row", other: "# in a row" })],
                        ] as const)
                      : []),
                  ]}
                />
              </Card>
              {may && b.status !== "disconnected" && offer && (
                <BankForm bank={b} accounts={b.accounts_count} least={offer.min_interval_minutes} />
              )}
              <LookOnly />
            </>
          )
        }
      >
        {error && <Fault error={error} what={t`this bank`} retry={again} />}
        {!banks.data && !error && (
          <Card>
            <Skeleton rows={5} />
          </Card>
        )}
        {b && (
          <>
            <Bank
              bank={b}
              health={h}
              accounts={(all.data ?? []).filter((a) => a.connection_id === b.id)}
              running={running.data?.sync_logs.find((l) => l.connection_id === b.id)?.job_id}
              may={may}
              filled
            />
            {(h?.quarantined ?? 0) > 0 && <SetAside bank={b.id} may={may} />}
            <SyncLog bank={b.id} />
          </>
        )}
      </Page>
    </>
  );
}
