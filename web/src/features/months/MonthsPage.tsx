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
const sides = [
  ["out", "Spent"],
  ["in", "Came in"],
] as const;
const kinds = [
  ["category", "By category"],
  ["payee", "By payee"],
  ["account", "By account"],
] as const;
const head = { category: "Category", payee: "Payee", account: "Account" };
const by = { category: "primary_category", payee: "payee", account: "account" } as const;

/** What each category, payee or account came to, month by month. Every figure opens its payments. */
export function MonthsPage() {
  const search = useSearch({ from: "/months" });
  const go = useNavigate({ from: "/months" });
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
        title={`${line.name}, ${month ? monthName(month) : "all months"}`}
      >
        {say(value)}
      </Link>
    ) : (
      say(value)
    );
  return (
    <>
      <Top title="Months" />
      <Page>
        <div className="row wrap">
          <Segments
            label="Which way"
            value={side}
            options={sides}
            onChange={(v) => set({ side: v === "in" ? v : undefined })}
          />
          <Segments
            label="Rows"
            value={kind}
            options={kinds}
            onChange={(v) => set({ by: v === "category" ? undefined : v })}
          />
          <Currencies value={currency} all={currencies} onChange={(v) => set({ currency: v })} />
        </div>
        {query.error && <Fault error={query.error} what="The months" retry={() => void query.refetch()} />}
        <Notes notes={query.data?.notes} />
        {!query.data && !query.error && (
          <Card>
            <Bones tall />
          </Card>
        )}
        {query.data && lines.length === 0 && (
          <Card>
            <Empty title={side === "out" ? "Nothing was spent" : "Nothing came in"}>
              There is no such payment in the last {months} months.
            </Empty>
          </Card>
        )}
        {lines.length > 0 && (
          <Card
            title={side === "out" ? "What was spent each month" : "What came in each month"}
            aside={`${monthName(shift(last, 1 - months))} until today`}
          >
            <p className="small dim">{said(lines, side, say)}</p>
            {pivot && side === "out" && kind === "category" && hides(pivot, currency) && (
              <p className="small">
                Payments without a category are not in this table, because more came in with them than went out.{" "}
                <Link className="link" to="/transactions" search={{ uncategorized: true }}>
                  See them
                </Link>
              </p>
            )}
            <Table
              label="Month by month"
              heads={[
                head[kind],
                "A month",
                ...columns.map((c) => monthAbbr(c.key) + (c.complete ? "" : c.key === last ? " so far" : "*")),
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
            <p className="small dim">
              Money out less what came back, without transfers between your own accounts. “A month” is the average of
              the months that are over and complete.
            </p>
          </Card>
        )}
      </Page>
    </>
  );
}
