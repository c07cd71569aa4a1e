import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { cashflow } from "#/api/cashflow";
import { overview } from "#/api/overview";
import { fold, moves } from "#/charts/flow";
import { Sankey } from "#/charts/Sankey";
import type { FlowSearch } from "#/lib/address";
import { localDay, monthOf } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { cents, rounded } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { Currencies } from "#/parts/Currencies";
import { useCategories } from "#/parts/categories";
import { reaches } from "#/parts/empty";
import { Fault } from "#/parts/Fault";
import { flowOf, middleOf, middleWord, refundsWord, useWay } from "#/parts/flow";
import { Notes } from "#/parts/Notes";
import { Nothing } from "#/parts/Nothing";
import { PageHeader } from "#/parts/PageHeader";
import { Stepper } from "#/parts/Stepper";
import { useMoney } from "#/ui/Amount";
import { Segments } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { Page } from "#/ui/Page";
import { daysWord, period } from "./period";
import { Sides } from "./Sides";
import { Sums } from "./Sums";
import { Trend } from "./Trend";

const spans = () =>
  [
    ["month", t`Month`],
    ["quarter", t`Quarter`],
    ["year", t`Year`],
  ] as const;
const compares = () =>
  [
    ["period", t`Previous period`],
    ["year", t`Last year`],
    ["none", t({ message: "Off", context: "a comparison" })],
  ] as const;
const comparisons = { period: "previous_period", year: "previous_year", none: undefined } as const;

/** Where money came from and went in a month, a quarter or a year, compared with an earlier period. */
export function CashflowPage() {
  const search = useSearch({ from: "/cash-flow" });
  const go = useNavigate({ from: "/cash-flow" });
  const home = useQuery(overview);
  const today = home.data?.today ?? localDay(new Date());
  const span = search.span ?? "month";
  const compare = search.compare ?? "period";
  const at = period(span, search.at ?? monthOf(today));
  const last = at.to >= today;
  const set = (s: Partial<FlowSearch>) => void go({ search: (o) => ({ ...o, ...s }), resetScroll: false });
  useKeys({ "[": () => set({ at: at.before }), "]": () => !last && set({ at: at.after }) });
  const flow = useQuery(
    cashflow({ start_date: at.from, end_date: at.to, by: search.by, compare: comparisons[compare] }),
  );
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const { look } = useCategories();
  const all = flow.data?.currencies ?? [];
  const shown =
    all.find((c) => c.iso_currency_code === search.currency) ?? all.toSorted((a, b) => b.count - a.count)[0];
  const currency = shown?.iso_currency_code ?? "";
  const accounts = new Map((shown?.nodes ?? []).flatMap((n) => (n.account_id ? [[n.id, n.account_id] as const] : [])));
  const days = { from: at.from, to: at.to };
  const way = useWay(days, accounts);
  const drawn =
    shown &&
    fold(
      flowOf(shown, (s) => look(s).tone),
      { in: 5, out: 8 },
    );
  const moved = drawn && moves(drawn);
  const middle = drawn && middleOf(drawn, cents(shown.money_in));
  const books = { first: home.data?.data.first_date, last: home.data?.data.last_date };
  const brief = (c: bigint) => (hidden ? "••••" : rounded(c, currency));
  const before = reaches(books, flow.data?.period.previous?.start_date) ? flow.data?.period.previous : undefined;
  const previousDays = before && daysWord(before.start_date, before.end_date, today);
  const trend = shown && (
    <Trend
      currency={currency}
      today={today}
      category={search.category}
      flow={shown}
      onChoose={(category) => set({ category })}
    />
  );
  return (
    <>
      <PageHeader title={t`Cash flow`}>
        <Stepper
          name={at.name}
          short={at.short}
          what={span}
          last={last}
          onBack={() => set({ at: at.before })}
          onOn={() => set({ at: at.after })}
        />
      </PageHeader>
      <Page
        stale={flow.isPlaceholderData}
        aside={
          shown && (
            <>
              <Sides
                flow={shown}
                days={days}
                accounts={accounts}
                compared={before !== undefined && before !== null}
                today={today}
              />
              <div className="phone">{trend}</div>
            </>
          )
        }
      >
        <div className="row wrap">
          <Segments
            label={t`Period`}
            value={span}
            options={spans()}
            onChange={(v) => set({ span: v === "month" ? undefined : v })}
          />
          <span className="row">
            <span className="small dim desk">
              <Trans>Compare with</Trans>
            </span>
            <Segments
              label={t`Compare with`}
              value={compare}
              options={compares()}
              onChange={(v) => set({ compare: v === "period" ? undefined : v })}
            />
          </span>
          <Currencies
            value={currency}
            all={all.map((c) => c.iso_currency_code)}
            onChange={(v) => set({ currency: v })}
          />
        </div>
        {flow.error && <Fault error={flow.error} what={t`the cash flow`} retry={() => void flow.refetch()} />}
        <Notes notes={flow.data?.notes} />
        {!flow.data && !flow.error && (
          <Card>
            <Skeleton tall />
            <Skeleton tall />
          </Card>
        )}
        {flow.data && !moved && (
          <Card>
            <Nothing days={{ ...days, name: at.name }} books={books} onChoose={(month) => set({ at: month })} />
          </Card>
        )}
        {shown && drawn && (
          <>
            <Sums sums={shown} days={days} before={previousDays} running={at.from <= today && today < at.to} />
            {moved && middle && (
              <div className="desk">
                <Card
                  title={t`Where your money went`}
                  aside={
                    <Segments
                      label={t`Group by`}
                      value={search.by ?? "category"}
                      options={[
                        ["category", t`By category`],
                        ["account", t`By account`],
                      ]}
                      onChange={(v) => set({ by: v === "account" ? v : undefined })}
                    />
                  }
                >
                  <Sankey
                    flow={drawn}
                    hub={middleWord(middle, brief(middle.all))}
                    say={(c) => money(c, currency)}
                    brief={brief}
                    way={way}
                  />
                  {middle.refunds > 0n && <p className="small dim">{refundsWord(money(middle.refunds, currency))}</p>}
                </Card>
              </div>
            )}
            <div className="desk">{trend}</div>
          </>
        )}
      </Page>
    </>
  );
}
