import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { table } from "#/api/transactions";
import type { MonthsSearch } from "#/lib/address";
import { firstDay, lastDay, localDay, monthOf, shift } from "#/lib/dates";
import { type Cents, rounded } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { Currencies } from "#/parts/Currencies";
import { useCategories } from "#/parts/categories";
import { shownCurrency } from "#/parts/currency";
import { Fault } from "#/parts/Fault";
import { Notes } from "#/parts/Notes";
import { Nothing } from "#/parts/Nothing";
import { PageHeader } from "#/parts/PageHeader";
import { Segments } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Page } from "#/ui/Page";
import { HeatKey, HeatList, HeatTable } from "./Heat";
import { describeTable, linesOf, totalOf } from "./lines";

const months = 13;
const sides = () =>
  [
    ["out", t`Spending`],
    ["in", t`Income`],
  ] as const;
const kinds = () =>
  [
    ["category", t`By category`],
    ["payee", t`By payee`],
    ["account", t`By account`],
  ] as const;
const head = { category: msg`Category`, payee: msg`Payee`, account: msg`Account` };
const by = { category: "primary_category", payee: "payee", account: "account" } as const;

/** Spending or income by month, for each category, payee or account. Every figure opens its transactions. */
export function MonthsPage() {
  const search = useSearch({ from: "/cash-flow/trends" });
  const go = useNavigate({ from: "/cash-flow/trends" });
  const set = (s: Partial<MonthsSearch>) => void go({ search: (o) => ({ ...o, ...s }), resetScroll: false });
  const home = useQuery(overview).data;
  const today = home?.today ?? localDay(new Date());
  const last = monthOf(today);
  const books = { first: home?.data.first_date, last: home?.data.last_date };
  const side = search.side ?? "out";
  const kind = search.by ?? "category";
  const query = useQuery(
    table({
      group_by: [by[kind], "month"],
      pivot: true,
      measure: side === "out" ? "out" : "net",
      side: side === "out" ? "spending" : "income",
      start_date: firstDay(shift(last, 1 - months)),
      end_date: lastDay(last),
      limit: kind === "payee" ? 60 : 200,
    }),
  );
  const { name } = useCategories();
  const hidden = amounts.use() === "hidden";
  const pivot = query.data?.pivot;
  const currencies = [...new Set(pivot?.rows.map((r) => r.iso_currency_code))];
  const currency = shownCurrency(currencies, search.currency, home?.balances[0]?.iso_currency_code);
  const lines = pivot ? linesOf(pivot, currency, by[kind], name) : [];
  const say = (c: Cents) => (hidden ? "••••" : rounded(c, currency));
  const began = query.data?.coverage.first_date?.slice(0, 7) ?? "";
  const columns = (pivot?.columns ?? []).map((c, i) => ({ ...c, i })).filter((c) => c.key >= began);
  const all = {
    head: i18n._(head[kind]),
    lines,
    total: pivot && totalOf(pivot, currency),
    columns,
    now: last,
    say,
  };
  const foot = (
    <>
      {columns.some((c) => !c.complete && c.key !== last) && (
        <p>
          <Trans>* Only part of this month has data.</Trans>
        </p>
      )}
      <p>
        {side === "out" ? (
          <Trans>Spending is net of refunds and excludes transfers. The average covers complete months only.</Trans>
        ) : (
          <Trans>Income excludes transfers. The average covers complete months only.</Trans>
        )}
      </p>
    </>
  );
  return (
    <>
      <PageHeader title={t`Cash flow`} />
      <Page>
        <div className="row wrap">
          <Segments
            label={t`Show`}
            value={side}
            options={sides()}
            onChange={(v) => set({ side: v === "in" ? v : undefined })}
          />
          <Segments
            label={t`Group by`}
            value={kind}
            options={kinds()}
            onChange={(v) => set({ by: v === "category" ? undefined : v })}
          />
          <Currencies value={currency} all={currencies} onChange={(v) => set({ currency: v })} />
        </div>
        {query.error && <Fault error={query.error} what={t`trends`} retry={() => void query.refetch()} />}
        <Notes notes={query.data?.notes} />
        {!query.data && !query.error && (
          <Card>
            <Skeleton tall />
          </Card>
        )}
        {query.data && lines.length === 0 && (
          <Card>
            {books.first === null ? (
              <Nothing
                days={{ from: firstDay(shift(last, 1 - months)), to: lastDay(last), name: "" }}
                books={books}
                onChoose={() => undefined}
              />
            ) : (
              <Empty title={side === "out" ? t`No spending` : t`No income`}>
                <Plural
                  value={months}
                  one="There are no matching transactions in the last # month."
                  other="There are no matching transactions in the last # months."
                />
              </Empty>
            )}
          </Card>
        )}
        {lines.length > 0 && (
          <Card
            title={side === "out" ? t`Monthly spending` : t`Monthly income`}
            aside={
              <>
                <span className="desk">
                  <HeatKey />
                </span>
                <span className="phone">
                  <Plural value={columns.length} one="# month · average" other="# months · average" />
                </span>
              </>
            }
            foot={<div className="small dim">{foot}</div>}
            flush
          >
            <p className="sr">{describeTable(lines, side, kind, say)}</p>
            <div className="desk">
              <HeatTable {...all} />
            </div>
            <div className="phone">
              <HeatList {...all} label={t`By month`} />
            </div>
          </Card>
        )}
      </Page>
    </>
  );
}
