import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { accountName, accounts, balances } from "#/api/accounts";
import { connections } from "#/api/connections";
import { dayAt, dayShort, localDay, ordinal } from "#/lib/dates";
import { cents } from "#/lib/money";
import { AddPayment } from "#/parts/AddPayment";
import { useLeaving } from "#/parts/deed";
import { Fault } from "#/parts/Fault";
import { LookOnly, useCan } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Sum } from "#/ui/Amount";
import { Segments } from "#/ui/Button";
import { Card, Empty } from "#/ui/Card";
import { Facts, Page } from "#/ui/Page";
import { AccountForm } from "./AccountForm";
import { BalanceCard } from "./BalanceCard";
import { Books } from "./Books";
import { ByHand } from "./ByHand";
import { DeleteAccount } from "./DeleteAccount";
import { Latest } from "./Latest";
import { Linked } from "./Linked";
import { MergeAccount } from "./MergeAccount";
import { kindOf } from "./words";

const spans = [
  ["3m", "3 m"],
  ["1y", "1 y"],
  ["5y", "5 y"],
  ["all", "All"],
] as const;
const days = { "3m": 92, "1y": 366, "5y": 1827, all: 0 } as const;

/** One account: its balance as a line, what is known of it, and its payments. */
export function AccountPage() {
  const { id } = useParams({ from: "/accounts/$id" });
  const span = useSearch({ from: "/accounts/$id" }).span ?? "1y";
  const go = useNavigate({ from: "/accounts/$id" });
  const all = useQuery(accounts);
  const banks = useQuery(connections);
  const may = useCan().write;
  const a = all.data?.find((x) => x.short_id === id || x.id === id);
  const today = localDay(new Date());
  const start = days[span] ? dayAt(ordinal(today) - days[span]) : undefined;
  const leaving = useLeaving(a?.id);
  const line = useQuery({ ...balances(a?.id ?? "", start), enabled: !!a && !leaving });
  if (leaving)
    return (
      <>
        <Top title={a ? accountName(a) : "Account"} />
        <Empty title="Taking it out of the books…">This takes a few seconds for thousands of payments.</Empty>
      </>
    );
  if (all.error) return <Fault error={all.error} what="The account" retry={() => void all.refetch()} />;
  if (all.data && !a)
    return (
      <>
        <Top title="Accounts" />
        <Empty
          title="There is no such account"
          action={
            <Link className="link" to="/accounts" search={{}}>
              All accounts
            </Link>
          }
        >
          It may have been removed, or its address is not complete.
        </Empty>
      </>
    );
  const bank = banks.data?.find((b) => b.id === a?.connection_id);
  return (
    <>
      <Top title={a ? accountName(a) : "Account"} sub={bank?.institution_name}>
        {a && may && <AddPayment account={a.id} />}
      </Top>
      <Page
        aside={
          a && (
            <>
              <Card title="What is known">
                <Facts
                  facts={[
                    [
                      "Bank",
                      bank ? (
                        <Link key="b" className="link" to="/banks/$id" params={{ id: bank.short_id }}>
                          <bdi>{bank.institution_name ?? "A bank"}</bdi>
                        </Link>
                      ) : a.institution_name ? (
                        <bdi key="b">{a.institution_name}</bdi>
                      ) : (
                        "none; kept by hand"
                      ),
                    ],
                    ["Kind", `${kindOf(a)}${a.subtype ? `, ${a.subtype.replaceAll("_", " ")}` : ""}`],
                    ...(a.closed_on ? ([["Closed on", dayShort(a.closed_on, today)]] as const) : []),
                    ...(a.provider === "manual"
                      ? []
                      : ([
                          ["Number", a.mask ? `ends in ${a.mask}` : "not told"],
                          ["Named by the bank", <bdi key="n">{a.official_name ?? a.name}</bdi>],
                        ] as const)),
                    ["Whose", a.user_name ?? "nobody's"],
                    ["Currency", a.iso_currency_code],
                    ...(a.balance_available === null
                      ? []
                      : [
                          [
                            "Available",
                            <Sum key="v" value={cents(a.balance_available)} currency={a.iso_currency_code} />,
                          ] as const,
                        ]),
                    ...(a.balance_limit === null
                      ? []
                      : [
                          [
                            "Limit",
                            <Sum key="l" value={cents(a.balance_limit)} currency={a.iso_currency_code} />,
                          ] as const,
                        ]),
                  ]}
                />
              </Card>
              {may ? <AccountForm key={a.updated_at} account={a} /> : <LookOnly />}
              {may && (!bank || bank.provider === "csv" || bank.status === "disconnected") && (
                <>
                  <MergeAccount account={a} />
                  <DeleteAccount account={a} />
                </>
              )}
            </>
          )
        }
      >
        <BalanceCard
          account={a}
          days={line.data}
          may={may}
          asks={bank?.can_refresh_balances ?? false}
          fault={line.error && <Fault error={line.error} what="The line" retry={() => void line.refetch()} />}
          aside={
            <Segments
              label="How far back"
              value={span}
              options={spans}
              onChange={(v) => void go({ search: { span: v === "1y" ? undefined : v }, resetScroll: false })}
            />
          }
        />
        {a && line.data && <ByHand account={a} days={line.data} may={may} />}
        {a && <Books account={a} bank={bank} may={may} />}
        {a && <Latest account={a} />}
        {a && <Linked account={a} />}
      </Page>
    </>
  );
}
