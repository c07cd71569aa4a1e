import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { accountName, accounts, balances } from "#/api/accounts";
import { connections } from "#/api/connections";
import { dayAt, dayShort, localDay, ordinal } from "#/lib/dates";
import { cents } from "#/lib/money";
import { enteredManually, fromFiles } from "#/lib/provider";
import { AddPayment } from "#/parts/AddPayment";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { useLeaving } from "#/parts/useAction";
import { Sum } from "#/ui/Amount";
import { Segments } from "#/ui/Button";
import { Card, Empty } from "#/ui/Card";
import { Facts, Page } from "#/ui/Page";
import { BalanceCard } from "./BalanceCard";
import { Books } from "./Books";
import { ByHand } from "./ByHand";
import { Latest } from "./Latest";
import { typeOf } from "./words";

const Linked = lazy(() => import("./Linked").then((m) => ({ default: m.Linked })));
const Manage = lazy(() => import("./Manage").then((m) => ({ default: m.Manage })));

const spans = () =>
  [
    ["3m", t`3 m`],
    ["1y", t`1 y`],
    ["5y", t`5 y`],
    ["all", t`All`],
  ] as const;
const days = { "3m": 92, "1y": 366, "5y": 1827, all: 0 } as const;

/** One account: its balance as a line, its details, and its transactions. */
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
        <PageHeader title={a ? accountName(a) : t`Account`} />
        <Empty title={t`Deleting account…`}>
          <Trans>This can take a few seconds.</Trans>
        </Empty>
      </>
    );
  if (all.error) return <Fault error={all.error} what={t`the account`} retry={() => void all.refetch()} />;
  if (all.data && !a)
    return (
      <>
        <PageHeader title={t`Accounts`} />
        <Empty
          title={t`Account not found`}
          action={
            <Link className="link" to="/accounts" search={{}}>
              <Trans>All accounts</Trans>
            </Link>
          }
        >
          <Trans>It may have been deleted, or the link is incomplete.</Trans>
        </Empty>
      </>
    );
  const bank = banks.data?.find((b) => b.id === a?.connection_id);
  return (
    <>
      <PageHeader title={a ? accountName(a) : t`Account`} sub={bank?.institution_name}>
        {a && may && <AddPayment account={a.id} />}
      </PageHeader>
      <Page
        aside={
          a && (
            <>
              <Card title={t`Details`}>
                <Facts
                  facts={[
                    [
                      t`Bank`,
                      bank ? (
                        <Link key="b" className="link" to="/banks/$id" params={{ id: bank.short_id }}>
                          <bdi>{bank.institution_name ?? t`Bank`}</bdi>
                        </Link>
                      ) : a.institution_name ? (
                        <bdi key="b">{a.institution_name}</bdi>
                      ) : (
                        t`None (manual account)`
                      ),
                    ],
                    [t`Type`, typeOf(a)],
                    ...(a.closed_on ? ([[t`Closed on`, dayShort(a.closed_on, today)]] as const) : []),
                    ...(enteredManually(a)
                      ? []
                      : ([
                          [t`Account number`, a.mask ? `••${a.mask}` : t`not available`],
                          [t`Bank name for account`, <bdi key="n">{a.official_name ?? a.name}</bdi>],
                        ] as const)),
                    [t`Owner`, a.user_name ?? t`No owner`],
                    [t`Currency`, a.iso_currency_code],
                    ...(a.balance_available === null
                      ? []
                      : [
                          [
                            t`Available`,
                            <Sum key="v" value={cents(a.balance_available)} currency={a.iso_currency_code} />,
                          ] as const,
                        ]),
                    ...(a.balance_limit === null
                      ? []
                      : [
                          [
                            t`Limit`,
                            <Sum key="l" value={cents(a.balance_limit)} currency={a.iso_currency_code} />,
                          ] as const,
                        ]),
                  ]}
                />
              </Card>
              {may ? (
                <Suspense>
                  <Manage account={a} ends={!bank || fromFiles(bank) || bank.status === "disconnected"} />
                </Suspense>
              ) : (
                <LookOnly />
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
          fault={line.error && <Fault error={line.error} what={t`the chart`} retry={() => void line.refetch()} />}
          aside={
            <Segments
              label={t`Period`}
              value={span}
              options={spans()}
              onChange={(v) => void go({ search: { span: v === "1y" ? undefined : v }, resetScroll: false })}
            />
          }
        />
        {a && line.data && <ByHand account={a} days={line.data} may={may} />}
        {a && <Books account={a} bank={bank} may={may} />}
        {a && <Latest account={a} />}
        {a && (
          <Suspense>
            <Linked account={a} />
          </Suspense>
        )}
      </Page>
    </>
  );
}
