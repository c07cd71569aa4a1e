import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { accountName, accounts } from "#/api/accounts";
import { type Finding, findings, setFinding } from "#/api/findings";
import { overview } from "#/api/overview";
import { dayShort, localDay } from "#/lib/dates";
import { cents } from "#/lib/money";
import { inOrder, kindTitle, why } from "#/parts/alerts";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly, useCan } from "#/parts/rights";
import { useAction } from "#/parts/useAction";
import { Amount, useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Fold, Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";

/** Alerts about duplicate and unusual charges, missed payments, price changes, balance mismatches and refunds. */
export function FindingsPage() {
  const { data, error, refetch } = useQuery(findings("open"));
  const gone = useQuery(findings("dismissed")).data?.findings ?? [];
  const sure = useQuery(findings("confirmed")).data?.findings ?? [];
  const all = data?.findings ?? [];
  return (
    <>
      <PageHeader
        title={t`Review`}
        sub={
          data && all.length > 0
            ? plural({ count: data.total }, { one: "# in the last 90 days", other: "# in the last 90 days" })
            : undefined
        }
      />
      <Page>
        <LookOnly />
        {error && <Fault error={error} what={t`alerts`} retry={() => void refetch()} />}
        {!data && !error && (
          <Card>
            <Skeleton rows={6} />
          </Card>
        )}
        {data && all.length === 0 && (
          <Card>
            <Empty
              title={t`No alerts`}
              action={
                <Link className="link" to="/accounts" search={{}}>
                  <Trans>Connect a bank or import a statement</Trans>
                </Link>
              }
            >
              <Trans>
                Duplicate charges, unusual charges, refunds and missed payments show up here after each sync or import.
              </Trans>
            </Empty>
          </Card>
        )}
        {inOrder(all.map((f) => f.kind)).map((kind) => {
          const rows = all.filter((f) => f.kind === kind);
          const title = kindTitle(kind);
          return (
            <Card key={kind} title={title} aside={rows.length} flush>
              <FindingLines label={title} rows={rows} />
            </Card>
          );
        })}
        {sure.length > 0 && (
          <Card flush>
            <Fold name={plural({ count: sure.length }, { one: "# confirmed", other: "# confirmed" })}>
              <FindingLines label={t({ message: "Confirmed", context: "alerts" })} rows={sure} />
            </Fold>
          </Card>
        )}
        {gone.length > 0 && (
          <Card flush>
            <Fold name={plural({ count: gone.length }, { one: "# dismissed", other: "# dismissed" })}>
              <FindingLines label={t({ message: "Dismissed", context: "alerts" })} rows={gone} />
            </Fold>
          </Card>
        )}
      </Page>
    </>
  );
}

function FindingLines({ label, rows }: { label: string; rows: readonly Finding[] }) {
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const known = useQuery(accounts).data ?? [];
  const { write } = useCan();
  const money = useMoney();
  const decide = useAction({
    act: ({ f, sure }: { f: Finding; sure?: true }) =>
      setFinding(f.id, sure ? "confirmed" : f.state === "open" ? "dismissed" : "open", sure && f.kind === "duplicate"),
    touches: ["findings", "changes", "overview", "transactions"],
    text: (_, { f, sure }) =>
      sure
        ? f.kind === "duplicate"
          ? t`Excluded from totals`
          : t`Refund confirmed`
        : f.state === "open"
          ? t({ message: "Dismissed", context: "an alert" })
          : t({ message: "Restored", context: "an alert" }),
    change: (x) => x.change,
  });
  const account = (f: Finding) => {
    const a = known.find((x) => x.id === f.account_id);
    return a ? accountName(a) : "";
  };
  return (
    <Lines label={label}>
      {rows.map((f) => {
        const name = f.payee_name ?? account(f);
        return (
          <Item
            key={f.id}
            below
            name={<bdi>{name}</bdi>}
            open={(text) =>
              f.recurring_id ? (
                <Link to="/transactions" search={{ recurring: f.recurring_id }}>
                  {text}
                </Link>
              ) : f.transaction_ids[0] ? (
                <Link to="/transactions" search={{ open: f.transaction_ids[0] }}>
                  {text}
                </Link>
              ) : (
                <Link to="/accounts/$id" params={{ id: f.account_id }} search={{}}>
                  {text}
                </Link>
              )
            }
            hint={[dayShort(f.date, today), why(f, (n) => money(n, f.iso_currency_code)), account(f)]
              .filter(Boolean)
              .join(" · ")}
            end={
              <>
                <Amount value={cents(f.amount)} currency={f.iso_currency_code} />
                {write && f.state === "open" && (f.kind === "refund" || f.kind === "duplicate") && (
                  <Button
                    aria-label={f.kind === "refund" ? t`Confirm refund: ${name}` : t`Exclude from totals: ${name}`}
                    title={
                      f.kind === "refund"
                        ? t`The refund counts in the category of its purchase`
                        : t`It’s a double charge: count only one of the two`
                    }
                    disabled={decide.isPending}
                    onClick={() => decide.mutate({ f, sure: true })}
                  >
                    {f.kind === "refund" ? <Trans>Confirm refund</Trans> : <Trans>Exclude from totals</Trans>}
                  </Button>
                )}
                {write && (
                  <Button
                    kind="quiet"
                    icon={f.state === "open" ? "x" : "undo"}
                    aria-label={f.state === "open" ? t`Dismiss ${name}` : t`Restore ${name}`}
                    disabled={decide.isPending}
                    onClick={() => decide.mutate({ f })}
                  />
                )}
              </>
            }
          />
        );
      })}
    </Lines>
  );
}
