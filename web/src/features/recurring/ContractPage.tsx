import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import { ApiError } from "#/api/client";
import { overview } from "#/api/overview";
import { type Contract, contract } from "#/api/recurring";
import { Steps } from "#/charts/Steps";
import { dayShort, localDay } from "#/lib/dates";
import { abs, cents, compact } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { useCategories } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { FormDialog } from "#/parts/FormDialog";
import { PageHeader } from "#/parts/PageHeader";
import { useCan } from "#/parts/rights";
import { Amount, Figure, useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Badge, Tile } from "#/ui/Chip";
import { Field } from "#/ui/Field";
import { Item, Lines } from "#/ui/Lines";
import { Facts, Page } from "#/ui/Page";
import { Stats } from "#/ui/Stats";
import { useDecide } from "./decide";
import css from "./RecurringPage.module.css";
import { called, change, groupName, prices, when } from "./words";

const few = 8;

/** One contract: its price over time, what it has cost, and its payments. */
export function ContractPage() {
  const { id } = useParams({ from: "/recurring/$id" });
  const { data, error, refetch } = useQuery(contract(id));
  const gone = error instanceof ApiError && error.status === 404;
  return (
    <>
      {!data && <PageHeader title={t`Recurring payment`} />}
      {gone && (
        <Page>
          <Card>
            <Empty
              title={t`This recurring payment no longer exists`}
              action={
                <Link className="link" to="/recurring">
                  <Trans>Recurring</Trans>
                </Link>
              }
            />
          </Card>
        </Page>
      )}
      {error && !gone && <Fault error={error} what={t`the recurring payment`} retry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={6} />}
      {data && <One contract={data} />}
    </>
  );
}

function One({ contract: r }: { contract: Contract }) {
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const may = useCan().write;
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const [names, setNames] = useState(false);
  const decide = useDecide(r);
  const say = (n: bigint) => money(n, r.iso_currency_code);
  const size = (n: number) => abs(cents(n));
  const figure = (n: number, large?: boolean) => (
    <Figure value={size(n)} currency={r.iso_currency_code} size={large ? "large" : "small"} />
  );
  const grown = r.last_year === undefined ? 0n : size(r.yearly_amount) - size(r.last_year);
  const varies = r.amount_type === "variable";
  const points = varies ? r.payments.map((p) => ({ day: p.date, value: size(p.amount) })).toReversed() : prices(r);
  const until = r.next_date ? today : r.last_date;
  return (
    <>
      <PageHeader title={called(r)}>
        {may && (
          <Button onClick={() => setNames(true)}>
            <Trans>Rename</Trans>
          </Button>
        )}
      </PageHeader>
      <Page
        aside={
          <>
            <Details contract={r} today={today} />
            <Payments contract={r} today={today} />
            {may && (
              <div className={css.buttons}>
                {r.state === "auto" && (
                  <Button
                    icon="check"
                    disabled={decide.isPending}
                    onClick={() => decide.mutate({ state: "confirmed" })}
                  >
                    <Trans>Confirm</Trans>
                  </Button>
                )}
                {r.state === "dismissed" ? (
                  <Button icon="undo" disabled={decide.isPending} onClick={() => decide.mutate({ state: "auto" })}>
                    <Trans>Restore</Trans>
                  </Button>
                ) : (
                  <Button
                    kind="quiet"
                    icon="x"
                    disabled={decide.isPending}
                    onClick={() => decide.mutate({ state: "dismissed" })}
                  >
                    <Trans>Dismiss</Trans>
                  </Button>
                )}
              </div>
            )}
          </>
        }
      >
        <Stats
          label={called(r)}
          cells={[
            { name: varies ? t`Usual amount` : t`Current price`, value: figure(r.amount, true), hint: when(r, today) },
            {
              name: t`Per year`,
              value: figure(r.yearly_amount),
              hint:
                grown > 0n
                  ? t`up ${{ amount: say(grown) }} vs. last year`
                  : grown < 0n
                    ? t`down ${{ amount: say(-grown) }} vs. last year`
                    : r.last_year !== undefined
                      ? t`same as last year`
                      : t`${{ amount: say(size(r.monthly_amount)) }} per month`,
            },
            {
              name: r.direction === "in" ? t`Received in total` : t`Paid in total`,
              value: figure(r.paid),
              hint: t`${plural({ count: r.occurrences }, { one: "# payment", other: "# payments" })} since ${{ day: dayShort(r.first_date, today) }}`,
            },
          ]}
        />
        <Card title={varies ? t`Amount over time` : t`Price over time`}>
          <Steps
            name={called(r)}
            points={points}
            until={until}
            today={today}
            say={say}
            axis={(c) => (hidden ? "" : compact(c, r.iso_currency_code))}
          />
        </Card>
        {!varies && (
          <Card title={t`Price changes`} flush={r.price_changes.length > 0}>
            {r.price_changes.length === 0 && (
              <p className="dim">
                <Trans>The price hasn’t changed.</Trans>
              </p>
            )}
            <Lines label={t`Price changes`}>
              {r.price_changes.map((c) => {
                const p = change(r, c, today, say);
                return (
                  <Item key={c.date} name={p.prices} hint={p.since} end={<Badge mood={p.mood}>{p.percent}</Badge>} />
                );
              })}
            </Lines>
          </Card>
        )}
      </Page>
      <FormDialog
        open={names}
        onClose={() => setNames(false)}
        title={t`Rename`}
        hint={
          <Trans>
            Payee: <bdi>{r.payee_name}</bdi>
          </Trans>
        }
        act={t`Save`}
        busy={decide.isPending}
        error={decide.error}
        onSubmit={(f) => decide.mutate({ name: f.maybe("name") }, { onSuccess: () => setNames(false) })}
      >
        <Field label={t`Name`} name="name" defaultValue={r.name ?? ""} maxLength={200} autoComplete="off" />
      </FormDialog>
    </>
  );
}

/** The payee, category, account and start date of a contract. */
function Details({ contract: r, today }: { contract: Contract; today: string }) {
  const { name, look } = useCategories();
  const account = useQuery(accounts).data?.find((a) => a.id === r.account_id);
  return (
    <Card title={t`Details`}>
      <Facts
        facts={[
          [
            t`Payee`,
            <Link key="p" className="link" to="/payees/$id" params={{ id: r.payee }}>
              <bdi>{r.payee_name}</bdi>
            </Link>,
          ],
          [
            t`Category`,
            <span key="c" className="row">
              <Tile {...look(r.category)} />
              {r.category ? name(r.category) : t`Uncategorized`}
            </span>,
          ],
          [t`Account`, <bdi key="a">{account ? accountName(account) : "…"}</bdi>],
          [t`Group`, groupName(r.group)],
          [t`Started`, dayShort(r.first_date, today)],
          [
            t`Status`,
            r.state === "dismissed"
              ? t({ message: "Dismissed", context: "recurring payments" })
              : r.status === "ended"
                ? t`Ended`
                : r.status === "late"
                  ? t`Overdue`
                  : r.state === "confirmed"
                    ? t`Confirmed`
                    : t`Found by coffer`,
          ],
        ]}
      />
    </Card>
  );
}

/** The next payment of a contract, and its latest ones. */
function Payments({ contract: r, today }: { contract: Contract; today: string }) {
  return (
    <Card
      title={t`Payments`}
      aside={
        <Link className="link" to="/transactions" search={{ recurring: r.short_id }}>
          <Trans>View transactions</Trans>
        </Link>
      }
      flush
    >
      <Lines label={t`Payments`}>
        {r.next_date && (
          <Item
            name={dayShort(r.next_date, today)}
            hint={r.status === "late" ? t`Overdue` : t`Next payment`}
            end={<Amount value={cents(r.expected_amount ?? r.amount)} currency={r.iso_currency_code} quiet />}
          />
        )}
        {r.payments.slice(0, few).map((p) => (
          <Item
            key={p.transaction_id}
            name={dayShort(p.date, today)}
            open={(name) => (
              <Link to="/transactions" search={{ recurring: r.short_id, open: p.short_id }}>
                {name}
              </Link>
            )}
            end={<Amount value={cents(p.amount)} currency={r.iso_currency_code} />}
          />
        ))}
      </Lines>
    </Card>
  );
}
