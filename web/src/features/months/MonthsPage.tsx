import { i18n } from "@lingui/core";
import { msg, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { overview } from "#/api/overview";
import { table } from "#/api/transactions";
import type { MonthsSearch } from "#/lib/address";
import { firstDay, lastDay, localDay, monthAbbr, monthName, monthOf, shift } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { type Cents, rounded } from "#/lib/money";
import { Currencies } from "#/parts/Currencies";
import { useCategories } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { Notes } from "#/parts/Notes";
import { Top } from "#/parts/Top";
import { Segments } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Table } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { hides, type Line, linesOf, said } from "./lines";
import css from "./MonthsPage.module.css";

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

/** Spending or income by category, payee or account, month by month. Every figure opens its transactions. */
export function MonthsPage() {
  const search = useSearch({ from: "/cash-flow/trends" });
  const go = useNavigate({ from: "/cash-flow/trends" });
  const set = (s: Partial<MonthsSearch>) => void go({ search: (o) => ({ ...o, ...s }), resetScroll: false });
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const last = monthOf(today);
  const side = search.side ?? "out";
  const kind = search.by ?? "category";
  const query = useQuery(
    table({
      group_by: [by[kind], "month"],
      pivot: true,
      measure: side === "out" ? "out" : "net",
      start_date: firstDay(shift(last, 1 - months)),
      end_date: lastDay(last),
      limit: kind === "payee" ? 60 : 200,
    }),
  );
  const { name } = useCategories();
  const hidden = amounts.use() === "hidden";
  const pivot = query.data?.pivot;
  const currencies = [...new Set(pivot?.rows.map((r) => r.iso_currency_code))];
  const currency = search.currency && currencies.includes(search.currency) ? search.currency : (currencies[0] ?? "");
  const lines = pivot ? linesOf(pivot, currency, by[kind], name) : [];
  const say = (c: Cents) => (hidden ? "••••" : rounded(c, currency));
  const began = query.data?.coverage.first_date?.slice(0, 7) ?? "";
  const columns = (pivot?.columns ?? [])
    .map((c, i) => ({ ...c, i }))
    .filter((c) => c.key >= began)
    .toReversed();
  const cell = (line: Line, value: Cents, month?: string) =>
    value === 0n ? (
      <span className="dim">–</span>
    ) : line.search ? (
      <Link
        className={css.figure}
        to="/transactions"
        search={{
          ...line.search,
          from: firstDay(month ?? shift(last, 1 - months)),
          to: lastDay(month ?? last),
        }}
        title={`${line.name}, ${month ? monthName(month) : t`all months`}`}
      >
        {say(value)}
      </Link>
    ) : (
      say(value)
    );
  return (
    <>
      <Top title={t`Cash flow`} />
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
            <Bones tall />
          </Card>
        )}
        {query.data && lines.length === 0 && (
          <Card>
            <Empty title={side === "out" ? t`No spending` : t`No income`}>
              <Plural
                value={months}
                one="There are no matching transactions in the last # month."
                other="There are no matching transactions in the last # months."
              />
            </Empty>
          </Card>
        )}
        {lines.length > 0 && (
          <Card
            title={side === "out" ? t`Monthly spending` : t`Monthly income`}
            aside={t`${{ month: monthName(shift(last, 1 - months)) }} – today`}
          >
            <p className="small dim">{said(lines, side, kind, say)}</p>
            {pivot && side === "out" && kind === "category" && hides(pivot, currency) && (
              <p className="small">
                <Trans>
                  Uncategorized transactions aren’t shown because they add up to money in.{" "}
                  <Link className="link" to="/transactions" search={{ uncategorized: true }}>
                    View them
                  </Link>
                </Trans>
              </p>
            )}
            <Table
              label={t`By month`}
              heads={[
                i18n._(head[kind]),
                t`Average`,
                ...columns.map((c) => {
                  const month = monthAbbr(c.key);
                  return c.complete ? month : c.key === last ? t`${month} (so far)` : `${month}*`;
                }),
              ]}
              num={[...columns.keys(), columns.length].map((i) => i + 1)}
              rows={lines.map((line) => ({
                key: line.key,
                cells: [
                  line.name,
                  line.average === undefined ? "" : say(line.average),
                  ...columns.map((c) => cell(line, line.values[c.i] ?? 0n, c.key)),
                ],
              }))}
            />
            {columns.some((c) => !c.complete && c.key !== last) && (
              <p className="small dim">
                <Trans>* Only part of this month has data.</Trans>
              </p>
            )}
            <p className="small dim">
              {side === "out" ? (
                <Trans>
                  Spending is net of refunds and excludes transfers. The average covers complete months only.
                </Trans>
              ) : (
                <Trans>Income excludes transfers. The average covers complete months only.</Trans>
              )}
            </p>
          </Card>
        )}
      </Page>
    </>
  );
}
