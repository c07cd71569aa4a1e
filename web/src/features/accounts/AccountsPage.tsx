import { plural, t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { accounts } from "#/api/accounts";
import { connections, runningSyncs, syncHealth } from "#/api/connections";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { Segments } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { AccountLines } from "./AccountLines";
import { AddMoney } from "./AddMoney";
import { Bank } from "./Bank";
import { Owned } from "./Owned";
import { SyncHistory } from "./SyncHistory";
import { grouped } from "./words";

const views = () =>
  [
    ["bank", t`By bank`],
    ["kind", t`By type`],
    ["person", t`By owner`],
  ] as const;

const count = (n: number) => plural(n, { one: "# account", other: "# accounts" });

/** Every account with its balance and the balance's age, and every bank with what it needs from a person. */
export function AccountsPage() {
  const by = useSearch({ from: "/accounts" }).by ?? "bank";
  const go = useNavigate({ from: "/accounts" });
  const all = useQuery(accounts);
  const banks = useQuery(connections);
  const health = useQuery(syncHealth);
  const running = useQuery(runningSyncs);
  const may = useCan().write;
  const error = all.error ?? banks.error ?? health.error;
  const ready = all.data && banks.data && health.data;
  const again = () => void Promise.all([all.refetch(), banks.refetch(), health.refetch()]);
  const visible = (all.data ?? []).filter((a) => !a.hidden);
  const nameOf = new Map(banks.data?.map((b) => [b.id, b.institution_name ?? t`Bank`]));
  // The bank that needs a person comes first, and only its button is filled. Removed banks without accounts are not
  // shown.
  const linked = (banks.data ?? []).filter((b) => b.status !== "disconnected" || b.accounts_count > 0);
  const sorted = linked.toSorted((a, b) => place(a.status) - place(b.status));
  const alone = (all.data ?? []).filter((a) => !a.connection_id);
  const choice = (
    <Segments
      label={t`Group by`}
      value={by}
      options={views()}
      onChange={(v) => void go({ search: { by: v === "bank" ? undefined : v } })}
    />
  );
  return (
    <>
      <PageHeader
        title={t`Accounts`}
        sub={ready && [count(visible.length), plural(sorted.length, { one: "# bank", other: "# banks" })].join(" · ")}
      >
        <span className="desk">{choice}</span>
      </PageHeader>
      <Page
        aside={
          ready && (
            <>
              <Owned accounts={visible} />
              <SyncHistory banks={health.data.connections} />
              <AddMoney may={may} filled={!sorted.some((b) => b.status === "pending_reauth")} />
            </>
          )
        }
      >
        <span className="phone">{choice}</span>
        {error && <Fault error={error} what={t`your accounts`} retry={again} />}
        {!ready && !error && (
          <>
            <Card>
              <Skeleton rows={4} />
            </Card>
            <Card>
              <Skeleton rows={4} />
            </Card>
          </>
        )}
        {ready && sorted.length === 0 && alone.length === 0 && (
          <Card>
            <Empty title={t`No accounts yet`}>
              {may
                ? t`Connect a bank, import a statement, or add an account manually, such as cash, a house or a loan.`
                : t`Accounts appear here when a member connects a bank, imports a statement or adds one.`}
            </Empty>
          </Card>
        )}
        {ready &&
          by === "bank" &&
          sorted.map((b, i) => (
            <Bank
              key={b.id}
              bank={b}
              health={health.data.connections.find((h) => h.id === b.id)}
              accounts={all.data.filter((a) => a.connection_id === b.id)}
              running={running.data?.sync_logs.find((l) => l.connection_id === b.id)?.job_id}
              may={may}
              filled={i === 0}
            />
          ))}
        {ready && by === "bank" && alone.length > 0 && (
          <Card title={t`Manual accounts`} flush>
            <Lines>
              <AccountLines accounts={alone} />
            </Lines>
          </Card>
        )}
        {ready &&
          by !== "bank" &&
          grouped(visible, by).map(([name, list]) => (
            <Card key={name} title={name} aside={count(list.length)} flush>
              <Lines>
                <AccountLines accounts={list} bankOf={(a) => (a.connection_id ? nameOf.get(a.connection_id) : null)} />
              </Lines>
            </Card>
          ))}
        <LookOnly />
      </Page>
    </>
  );
}

const place = (status: string) => ["pending_reauth", "error", "active", "disconnected"].indexOf(status);
