import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useRouter } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "#/api/client";
import { counterparties } from "#/api/counterparties";
import { type PayeeDetail, payeeOf } from "#/api/payees";
import { recurring } from "#/api/recurring";
import { rules } from "#/api/rules";
import { newest, payee } from "#/api/transactions";
import { Bars } from "#/charts/Bars";
import { dayShort, firstDay, lastDay, localDay, monthOf } from "#/lib/dates";
import { cents, compact, money } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import type { Tone } from "#/lib/tones";
import { transactions } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { outWord } from "#/parts/pairs";
import { useCan } from "#/parts/rights";
import { Amount, Sum } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Badge, Tile } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";
import { Facts, Page } from "#/ui/Page";
import { Merge, Rename, SamePayee } from "./Naming";
import { PayeeForm } from "./PayeeForm";
import { monthsOf, ownAccount, searchOf } from "./payee";

const few = 8;

/** One payee: its total by month, its transactions, the bank's texts for it, its rules and its recurring payments. */
export function PayeePage() {
  const { id } = useParams({ from: "/payees/$id" });
  const one = useQuery(payeeOf(id));
  const gone = one.error instanceof ApiError && one.error.status === 404;
  const p = gone ? undefined : one.data;
  return (
    <>
      {!p && <PageHeader title={t`Payee`} />}
      {gone && (
        <Page>
          <Card>
            <Empty
              title={t`Payee not found`}
              action={
                <Link className="link" to="/settings/categories" search={{ tab: "payees" }}>
                  <Trans>View all payees</Trans>
                </Link>
              }
            />
          </Card>
        </Page>
      )}
      {one.error && !gone && <Fault error={one.error} what={t`the payee`} retry={() => void one.refetch()} />}
      {!p && !one.error && <Skeleton rows={6} />}
      {p && <One payee={p} />}
    </>
  );
}

function One({ payee: p }: { payee: PayeeDetail }) {
  const may = useCan().write;
  const [form, setForm] = useState<"rename" | "merge" | "edit" | null>(null);
  const all = useQuery({ ...counterparties, enabled: p.counterparty !== null });
  const record = all.data?.find((c) => c.id === p.counterparty?.id);
  const { look, name, kind } = useCategories();
  const today = localDay(new Date());
  const category = p.totals[0]?.category;
  const first = p.totals.map((x) => x.first_date).sort()[0] ?? today;
  const close = () => setForm(null);
  return (
    <>
      <PageHeader title={payee(p)}>
        {may && (
          <span className="row">
            <Button onClick={() => setForm("rename")}>
              <Trans>Rename</Trans>
            </Button>
            <Button onClick={() => setForm("merge")}>
              <Trans>Merge…</Trans>
            </Button>
          </span>
        )}
      </PageHeader>
      <Page
        aside={
          <>
            <Card
              title={t`Details`}
              aside={
                may &&
                record && (
                  <Button kind="quiet" onClick={() => setForm("edit")}>
                    <Trans>Edit</Trans>
                  </Button>
                )
              }
            >
              <Facts
                facts={[
                  [t`Category`, category ? name(category) : t`Uncategorized`],
                  [
                    t`Aliases`,
                    <span key="a">
                      {p.aliases.map((a) => (
                        <bdi key={a.text} className="small" style={{ display: "block" }}>
                          {a.text}
                        </bdi>
                      ))}
                    </span>,
                  ],
                  [t`First seen`, dayShort(first, today)],
                ]}
              />
            </Card>
            <RulesOf payee={p} />
            <RecurringOf payee={p} />
          </>
        }
      >
        {may && <SamePayee payee={p} />}
        <ByMonth payee={p} tone={look(category).tone} own={ownAccount(p, kind)} />
        <LatestOf payee={p} />
      </Page>
      {form === "rename" && <Rename payee={p} onClose={close} />}
      {form === "merge" && <Merge payee={p} onClose={close} />}
      {form === "edit" && record && <PayeeForm payee={record} onClose={close} />}
    </>
  );
}

function ByMonth({ payee: p, tone, own }: { payee: PayeeDetail; tone: Tone; own: boolean }) {
  const go = useNavigate();
  const router = useRouter();
  const hidden = amounts.use() === "hidden";
  const { currency, bars, total, count } = monthsOf(p, monthOf(localDay(new Date())));
  const way = (month: string) => {
    const to = { to: "/transactions", search: { ...searchOf(p), from: firstDay(month), to: lastDay(month) } } as const;
    return { href: router.buildLocation(to).href, go: () => void go(to) };
  };
  return (
    <Card title={t`By month`} aside={!own && <Sum value={total} currency={currency} />}>
      <p className="small dim">
        <Trans>Last 12 months</Trans> · {transactions(count)} ·{" "}
        {own ? <Trans>Transfers between your accounts</Trans> : <Trans>Dotted line: average</Trans>}
      </p>
      <Bars
        name={p.payee_name}
        bars={bars}
        tone={tone}
        say={(c) => money(c, currency)}
        axis={(c) => (hidden ? "" : compact(c, currency))}
        way={way}
        apart={own}
      />
    </Card>
  );
}

function LatestOf({ payee: p }: { payee: PayeeDetail }) {
  const { data } = useQuery(
    newest(p.counterparty ? { counterparty_id: p.counterparty.id } : { payee: p.payee, counterparty_id: "none" }, few),
  );
  const { look } = useCategories();
  const today = localDay(new Date());
  return (
    <Card
      title={t`Transactions`}
      flush
      aside={
        <Link className="link" to="/transactions" search={searchOf(p)}>
          <Trans>View transactions</Trans>
        </Link>
      }
    >
      {!data && <Skeleton rows={4} />}
      <Lines label={t`Transactions`}>
        {data?.transactions.map((r) => (
          <Item
            key={r.id}
            mark={<Tile {...look(r.category)} />}
            name={<bdi>{payee(r)}</bdi>}
            hint={`${dayShort(r.date, today)} · ${r.category_display_name ?? t`Uncategorized`} · ${r.account_name}`}
            open={(name) => (
              <Link to="/transactions" search={{ ...searchOf(p), open: r.short_id }}>
                {name}
              </Link>
            )}
            end={
              <>
                {outWord(r) && <Badge>{outWord(r)}</Badge>}
                <Amount value={cents(r.amount)} currency={r.iso_currency_code} quiet={r.pending} />
              </>
            }
          />
        ))}
      </Lines>
    </Card>
  );
}

function RulesOf({ payee: p }: { payee: PayeeDetail }) {
  const { data } = useQuery(rules);
  const matching = (data ?? []).filter((r) =>
    r.actions.some(
      (a) =>
        a.type === "assign_counterparty" &&
        ((a.counterparty_id && a.counterparty_id === p.counterparty?.id) ||
          (a.counterparty_name && a.counterparty_name.toLowerCase() === p.counterparty?.name.toLowerCase())),
    ),
  );
  return (
    <Card title={t`Rules`} flush={matching.length > 0}>
      {data && matching.length === 0 && (
        <p className="dim">
          <Trans>No rules set this payee.</Trans>
        </p>
      )}
      <Lines>
        {matching.map((r) => (
          <Item
            key={r.id}
            name={<bdi>{r.name}</bdi>}
            open={(name) => (
              <Link to="/rules/$id" params={{ id: r.short_id }}>
                {name}
              </Link>
            )}
          />
        ))}
      </Lines>
    </Card>
  );
}

function RecurringOf({ payee: p }: { payee: PayeeDetail }) {
  const { data } = useQuery(recurring);
  const keys = new Set(p.aliases.map((a) => a.payee));
  const matching = (data ?? []).filter(
    (r) =>
      r.state !== "dismissed" &&
      (p.counterparty ? r.counterparty_id === p.counterparty.id : !r.counterparty_id && keys.has(r.payee)),
  );
  const today = localDay(new Date());
  return (
    <Card title={t`Recurring`} flush={matching.length > 0}>
      {data && matching.length === 0 && (
        <p className="dim">
          <Trans>No recurring payments to {p.payee_name}.</Trans>
        </p>
      )}
      <Lines>
        {matching.map((r) => (
          <Item
            key={r.id}
            name={<bdi>{r.name ?? r.payee_name}</bdi>}
            hint={r.next_date ? t`next on ${dayShort(r.next_date, today)}` : undefined}
            open={(name) => (
              <Link to="/recurring/$id" params={{ id: r.short_id }}>
                {name}
              </Link>
            )}
            end={<Amount value={cents(r.amount)} currency={r.iso_currency_code} />}
          />
        ))}
      </Lines>
    </Card>
  );
}
