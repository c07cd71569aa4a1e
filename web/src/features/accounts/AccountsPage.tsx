import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { accounts } from "#/api/accounts";
import { connections, runningSyncs, syncHealth } from "#/api/connections";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Segments } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { AccountLines } from "./AccountLines";
import { AddMoney } from "./AddMoney";
import { Bank } from "./Bank";
import { HowFresh } from "./HowFresh";
import { Owned } from "./Owned";
import { grouped } from "./words";

const views = [
  ["bank", "By bank"],
  ["kind", "By kind"],
  ["person", "By person"],
] as const;

/** Every account with its balance and how old that is, and every bank with what it needs. */
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
  const seen = (all.data ?? []).filter((a) => !a.hidden);
  const nameOf = new Map(banks.data?.map((b) => [b.id, b.institution_name ?? "A bank"]));
  // The bank that needs a person comes first, and only its button is filled.
  // One that was removed and has brought nothing that is left is no bank of the household any more.
  const linked = (banks.data ?? []).filter((b) => b.status !== "disconnected" || b.accounts_count > 0);
  const order = linked.toSorted((a, b) => place(a.status) - place(b.status));
  const alone = (all.data ?? []).filter((a) => !a.connection_id);
  const choice = (
    <Segments
      label="Listed"
      value={by}
      options={views}
      onChange={(v) => void go({ search: { by: v === "bank" ? undefined : v } })}
    />
  );
  return (
    <>
      <Top
        title="Accounts"
        sub={
          ready &&
          `${seen.length} ${seen.length === 1 ? "account" : "accounts"}, ${order.length} ${order.length === 1 ? "bank" : "banks"}`
        }
      >
        <span className="desk">{choice}</span>
      </Top>
      <Page
        aside={
          ready && (
            <>
              <Owned accounts={seen} />
              <HowFresh banks={health.data.connections} />
              <AddMoney may={may} filled={!order.some((b) => b.status === "pending_reauth")} />
            </>
          )
        }
      >
        <span className="phone">{choice}</span>
        {error && <Fault error={error} what="The accounts" retry={again} />}
        {!ready && !error && (
          <>
            <Card>
              <Bones rows={4} />
            </Card>
            <Card>
              <Bones rows={4} />
            </Card>
          </>
        )}
        {ready && order.length === 0 && alone.length === 0 && (
          <Card>
            <Empty title="No account yet">
              {may
                ? "Link a bank, import a statement, or add by hand what no bank knows: cash, a house, a loan. All stand here with their balances."
                : "They stand here as soon as a member links a bank, imports a statement or adds one by hand."}
            </Empty>
          </Card>
        )}
        {ready &&
          by === "bank" &&
          order.map((b, i) => (
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
          <Card title="Kept by hand" flush>
            <Lines>
              <AccountLines accounts={alone} />
            </Lines>
          </Card>
        )}
        {ready &&
          by !== "bank" &&
          grouped(seen, by).map(([name, list]) => (
            <Card key={name} title={name} aside={`${list.length} ${list.length === 1 ? "account" : "accounts"}`} flush>
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
