import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { overview } from "#/api/overview";
import { year as yearQuery } from "#/api/years";
import { Pairs } from "#/charts/Pairs";
import type { FlowSearch } from "#/lib/address";
import { dayShort, localDay } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { abs, type Cents, cents, compact, money, rounded } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { saveText } from "#/lib/save";
import { percent, transactions } from "#/lib/words";
import { Currencies } from "#/parts/Currencies";
import { Fault } from "#/parts/Fault";
import { Notes } from "#/parts/Notes";
import { Nothing } from "#/parts/Nothing";
import { PageHeader } from "#/parts/PageHeader";
import { Stepper } from "#/parts/Stepper";
import { Figure } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Tag } from "#/ui/Chip";
import { Page } from "#/ui/Page";
import { Categories } from "./Categories";
import { csvOf, linesOf } from "./lines";
import { LeftOut, Tagged } from "./Rows";
import css from "./Year.module.css";

const span = "year";

/** A calendar year by category and tag, compared with the year before. It can be printed. */
export function YearPage() {
  const search = useSearch({ from: "/cash-flow/year" });
  const go = useNavigate({ from: "/cash-flow/year" });
  const home = useQuery(overview).data;
  const today = home?.today ?? localDay(new Date());
  const year = Number((search.at ?? today).slice(0, 4));
  const set = (s: Partial<FlowSearch>) => void go({ search: (o) => ({ ...o, ...s }), resetScroll: false });
  const last = `${year}` >= today.slice(0, 4);
  const first = year <= Number((home?.data.first_date ?? today).slice(0, 4));
  const to = (y: number) => set({ at: `${y}-01` });
  useKeys({ "[": () => !first && to(year - 1), "]": () => !last && to(year + 1) });
  const query = useQuery(yearQuery(year));
  const data = query.data;
  const books = { first: home?.data.first_date, last: home?.data.last_date };
  const hidden = amounts.use() === "hidden";
  const [opened, setOpened] = useState<readonly string[]>([]);
  const currencies = data?.totals.map((s) => s.iso_currency_code) ?? [];
  const sums =
    data?.totals.find((s) => s.iso_currency_code === search.currency) ??
    data?.totals.toSorted((a, b) => b.count + b.previous.count - a.count - a.previous.count)[0];
  const currency = sums?.iso_currency_code ?? "";
  const say = (c: Cents) => (hidden ? "••••" : money(c, currency));
  const brief = (c: Cents) => (hidden ? "••••" : rounded(c, currency));
  const days = { from: `${year}-01-01`, to: `${year}-12-31` };
  const before = data?.period.previous;
  const running = `${year}` === today.slice(0, 4);
  const name = (d: string) => dayShort(d, today);
  const spans = before && {
    now: `${name(data.period.start_date)} – ${name(data.period.end_date)}`,
    before: running ? `${name(before.start_date)} – ${name(before.end_date)}` : `${year - 1}`,
  };
  const known = sums && sums.previous.count > 0;
  const than = (now: number, then: number) => {
    if (!known) return undefined;
    const d = cents(now) - cents(then);
    const other = year - 1;
    if (d === 0n) return t`same as ${other}`;
    const amount = brief(abs(d));
    return d > 0n ? t`up ${amount} vs. ${other}` : t`down ${amount} vs. ${other}`;
  };
  const net = cents(sums?.net ?? 0);
  const share = sums && sums.income > 0 && net > 0n ? percent(Math.round((100 * sums.net) / sums.income)) : undefined;
  const tags = data?.tags.filter((g) => g.iso_currency_code === currency) ?? [];
  const transfers = data?.transfers_excluded.find((x) => x.iso_currency_code === currency);
  const saved = running ? t`Saved so far` : t({ message: "Saved", context: "money that is not spent" });
  const figures: [string, Cents, string | undefined][] = sums
    ? [
        [net < 0n ? t`From savings` : saved, abs(net), share && t`${share} of income`],
        [t`Income`, cents(sums.income), than(sums.income, sums.previous.income)],
        [t`Spending`, cents(sums.spending), than(sums.spending, sums.previous.spending)],
      ]
    : [];
  const moved = transactions(transfers?.count ?? 0);
  const toggle = (tag: string) => setOpened((o) => (o.includes(tag) ? o.filter((x) => x !== tag) : [...o, tag]));
  return (
    <div className={css.doc}>
      <div className={css.head}>
        <PageHeader title={t`Cash flow`}>
          <Stepper
            name={`${year}`}
            short={`${year}`}
            what={span}
            first={first}
            last={last}
            onBack={() => to(year - 1)}
            onOn={() => to(year + 1)}
          />
          {data && sums && (
            <span className={`row desk ${css.tools}`}>
              <Button icon="download" onClick={() => saveText(`coffer-${year}.csv`, csvOf(data))}>
                CSV
              </Button>
              <Button icon="report" onClick={() => window.print()}>
                <Trans>Print</Trans>
              </Button>
            </span>
          )}
        </PageHeader>
      </div>
      <div className={css.paper}>
        <p className={css.title}>{[year, home?.household_name].filter(Boolean).join(" · ")}</p>
        {spans && (
          <p>{known ? t`${{ now: spans.now }}, compared with ${{ before: spans.before }}` : spans.now} · coffer</p>
        )}
      </div>
      <Page
        aside={
          data &&
          sums && (
            <>
              <Card
                title={t`Spending by month`}
                aside={
                  <span className={css.legend}>
                    <i className={css.now} />
                    {year}
                    {sums.previous_months.some((m) => m !== 0) && (
                      <>
                        <i className={css.then} />
                        {year - 1}
                      </>
                    )}
                  </span>
                }
              >
                <Pairs
                  words={t`Spending by month in ${{ year: String(year) }} and the year before.`}
                  year={year}
                  now={sums.months.map(cents)}
                  before={sums.previous_months.map(cents)}
                  heads={[t`Month`, String(year), String(year - 1)]}
                  say={say}
                  axis={(c) => (hidden ? "" : compact(c, currency))}
                />
              </Card>
              {tags.length > 0 && (
                <Card title={t`By tag`} flush>
                  <ul className={css.tags}>
                    {tags.map((g) => (
                      <li key={g.tag}>
                        <button type="button" aria-expanded={opened.includes(g.tag)} onClick={() => toggle(g.tag)}>
                          <Tag slug={g.tag} />
                          <span className={css.sum}>
                            <b>{say(cents(g.total))}</b>
                            <span className="small dim">
                              {transactions(g.count)}
                              {known && ` · ${year - 1}: ${brief(cents(g.previous))}`}
                            </span>
                          </span>
                        </button>
                      </li>
                    ))}
                  </ul>
                </Card>
              )}
              <LeftOut days={days} today={today} />
              {transfers && (
                <p className="small dim">
                  <Trans>
                    {moved} between your own accounts aren’t in these figures.{" "}
                    <Link className="link" to="/transactions" search={{ ...days, transfer: true }}>
                      View transfers
                    </Link>
                  </Trans>
                </p>
              )}
            </>
          )
        }
      >
        {currencies.length > 1 && (
          <div className={`row wrap ${css.tools}`}>
            <Currencies value={currency} all={currencies} onChange={(v) => set({ currency: v })} />
          </div>
        )}
        {query.error && <Fault error={query.error} what={t`the year`} retry={() => void query.refetch()} />}
        <Notes notes={data?.notes.filter((n) => n.code !== "data_ends")} />
        {!data && !query.error && (
          <Card>
            <Skeleton tall />
            <Skeleton tall />
          </Card>
        )}
        {data && !sums && (
          <Card>
            {books.first === null ? (
              <Nothing days={{ ...days, name: `${year}` }} books={books} onChoose={() => undefined} />
            ) : (
              <Empty title={t`Nothing in ${{ year: String(year) }}`}>
                <Trans>There’s no income or spending in this year.</Trans>
              </Empty>
            )}
          </Card>
        )}
        {data && sums && (
          <>
            <Card>
              <dl className={css.strip}>
                {figures.map(([label, value, hint], i) => (
                  <div key={label}>
                    <dt>{label}</dt>
                    <dd>
                      <Figure value={value} currency={currency} size={i ? "small" : "large"} />
                      {hint && <span className="small dim">{hint}</span>}
                    </dd>
                  </div>
                ))}
              </dl>
            </Card>
            <Categories
              title={t`By category`}
              total={t`Spending`}
              aside={known && running && spans ? t`vs. ${{ period: spans.before }}` : undefined}
              lines={linesOf(data.categories, currency)}
              year={year}
              days={days}
              compared={known === true}
              say={say}
              brief={brief}
              direction="out"
            />
            <div className={css.short}>
              <Categories
                title={t`Income`}
                total={t`Income`}
                lines={linesOf(data.income, currency)}
                year={year}
                days={days}
                compared={known === true}
                say={say}
                brief={brief}
                direction="in"
              />
            </div>
            {opened.map((tag) => {
              const of = tags.find((g) => g.tag === tag);
              return (
                of && (
                  <Tagged
                    key={tag}
                    tag={tag}
                    currency={currency}
                    days={days}
                    today={today}
                    total={say(cents(of.total))}
                  />
                )
              );
            })}
          </>
        )}
      </Page>
    </div>
  );
}
