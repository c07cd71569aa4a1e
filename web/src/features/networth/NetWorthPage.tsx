import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type NetWorth, netWorth, rates } from "#/api/networth";
import { overview } from "#/api/overview";
import { Areas } from "#/charts/Areas";
import { Balance } from "#/charts/Balance";
import { offs } from "#/charts/spans";
import type { WorthSearch } from "#/lib/address";
import { dayShort, firstDay, localDay, monthOf, shift } from "#/lib/dates";
import { cents, compact } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { Currencies } from "#/parts/Currencies";
import { shownCurrency } from "#/parts/currency";
import { Fault } from "#/parts/Fault";
import { Notes } from "#/parts/Notes";
import { PageHeader } from "#/parts/PageHeader";
import { Figure, Sum, useMoney } from "#/ui/Amount";
import { Segments } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { Stats } from "#/ui/Stats";
import { AllBooks } from "./AllBooks";
import css from "./NetWorthPage.module.css";
import { groupsOf, layersOf, lineOf, marksOf, moved, partMoved } from "./worth";

const spans = () =>
  (["1", "3", "10"] as const).map(
    (years) => [years, plural({ years: Number(years) }, { one: "# year", other: "# years" })] as const,
  );
const kinds = () =>
  [
    ["type", t`By type`],
    ["account", t`By account`],
    ["user", t`By member`],
  ] as const;

/** The household’s net worth today and over time, what it consists of, and the balance checks behind it. */
export function NetWorthPage() {
  const search = useSearch({ from: "/net-worth" });
  const go = useNavigate({ from: "/net-worth" });
  const set = (s: Partial<WorthSearch>) => void go({ search: (o) => ({ ...o, ...s }), resetScroll: false });
  const home = useQuery(overview).data;
  const today = home?.today ?? localDay(new Date());
  const years = search.years ?? "1";
  const by = search.by ?? "type";
  const converts = (useQuery(rates).data?.rates.length ?? 0) > 0;
  const start_date = firstDay(shift(monthOf(today), -12 * Number(years)));
  const plain = useQuery(netWorth({ start_date, interval: years === "1" ? "week" : "month", by }));
  const currencies = [...new Set(plain.data?.points.at(-1)?.totals.map((x) => x.iso_currency_code))];
  const currency = shownCurrency(currencies, search.currency, home?.balances[0]?.iso_currency_code);
  const change = plain.data?.changes.find((c) => c.iso_currency_code === currency);
  return (
    <>
      <PageHeader title={t`Net worth`} />
      <Page stale={plain.isPlaceholderData}>
        <div className="row wrap">
          <Segments
            label={t`Period`}
            value={years}
            options={spans()}
            onChange={(v) => set({ years: v === "1" ? undefined : v })}
          />
          <Segments
            label={t`Group by`}
            value={by}
            options={kinds()}
            onChange={(v) => set({ by: v === "type" ? undefined : v })}
          />
          <Currencies value={currency} all={currencies} onChange={(v) => set({ currency: v })} />
        </div>
        {plain.error && <Fault error={plain.error} what={t`your net worth`} retry={() => void plain.refetch()} />}
        <Notes notes={plain.data?.notes} />
        {!plain.data && !plain.error && (
          <Card>
            <Skeleton tall />
          </Card>
        )}
        {plain.data && currencies.length === 0 && (
          <Card>
            <Empty
              title={t`No accounts yet`}
              action={
                <Link className="link" to="/accounts" search={{}}>
                  <Trans>Add account</Trans>
                </Link>
              }
            >
              <Trans>Connect a bank, import a statement or add an account manually. Your net worth appears here.</Trans>
            </Empty>
          </Card>
        )}
        {plain.data && currency && (
          <>
            <Strip worth={plain.data} currency={currency} change={change} today={today} />
            {converts && currencies.length > 1 && (
              <Card>
                <Together start_date={start_date} currency={currency} today={today} />
              </Card>
            )}
            <Worth worth={plain.data} currency={currency} by={by} change={change} today={today} />
            <Parts worth={plain.data} currency={currency} by={by} />
            <AllBooks today={today} />
          </>
        )}
      </Page>
    </>
  );
}

type Change = NetWorth["changes"][number];

/**
 * The net worth of one currency today, and the change in the period. The change is also given without newly added
 * accounts.
 */
function Strip(p: { worth: NetWorth; currency: string; change?: Change; today: string }) {
  const money = useMoney();
  const now = p.worth.points.at(-1)?.totals.find((x) => x.iso_currency_code === p.currency);
  if (!now || now.net === null)
    return (
      <Card>
        <p className="dim">
          <Trans>No {{ currency: p.currency }} account has a balance yet. Enter one on the account’s page.</Trans>
        </p>
      </Card>
    );
  const say = (c: bigint) => money(c, p.currency);
  const figure = (n: number, large?: boolean) => (
    <Figure value={cents(n)} currency={p.currency} size={large ? "large" : "small"} />
  );
  const c = p.change;
  const since = c && c.start_date !== c.end_date ? dayShort(c.start_date, p.today) : undefined;
  const by = c && since ? cents(c.net) : 0n;
  const added = c?.new_accounts ?? [];
  const came = added.reduce((n, a) => n + cents(a.balance), 0n);
  const only = added.length === 1 && added[0] ? added[0].name : undefined;
  return (
    <Stats
      label={t`Net worth in ${{ currency: p.currency }}`}
      cells={[
        {
          name: t`Net worth`,
          value: figure(now.net, true),
          hint:
            since &&
            (by === 0n
              ? t`No change since ${{ start: since }}`
              : by < 0n
                ? t`Down ${{ amount: say(-by) }} since ${{ start: since }}`
                : t`Up ${{ amount: say(by) }} since ${{ start: since }}`),
        },
        c && added.length > 0
          ? {
              name: t`Without new accounts`,
              value: <Moved by={cents(c.without_new)} currency={p.currency} />,
              hint: only
                ? t`${{ amount: say(came) }} came with ${{ account: only }}`
                : t`${{ amount: say(came) }} came with ${{ count: added.length }} accounts`,
            }
          : c && since
            ? {
                name: t`Change`,
                value: <Moved by={by} currency={p.currency} />,
                hint: t`in the period`,
              }
            : undefined,
        {
          name: t`Assets`,
          value: figure(now.assets ?? 0),
          hint: c && since && t`${{ change: moved(cents(c.assets), say) }} in the period`,
        },
        {
          name: t`Debts`,
          value: figure(now.debts ?? 0),
          hint: c && since && t`${{ change: moved(cents(c.debts), say) }} in the period`,
        },
      ]}
    />
  );
}

/** A change with its sign: green if it is a gain. */
function Moved({ by, currency }: { by: bigint; currency: string }) {
  const hidden = amounts.use() === "hidden";
  return (
    <span className={by > 0n ? css.gain : undefined}>
      {by > 0n && !hidden && "+"}
      <Figure value={by} currency={currency} size="small" />
    </span>
  );
}

/** One currency over time, with text that explains the chart. */
function Worth(p: {
  worth: NetWorth;
  currency: string;
  by: "type" | "account" | "user";
  today: string;
  change?: Change;
}) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const points = lineOf(p.worth, p.currency);
  const say = (d: string) => dayShort(d, p.today);
  if (points.length < 2) return null;
  const draw = {
    today: p.today,
    say: (c: bigint) => money(c, p.currency),
    axis: (c: bigint) => (hidden ? "" : compact(c, p.currency)),
  };
  return (
    <Card title={p.by === "type" ? t`By type` : t`Net worth over time`}>
      {p.by === "type" ? (
        <Areas {...layersOf(p.worth, p.currency)} marks={marksOf(p.change)} {...draw} />
      ) : (
        <>
          <Balance points={points} derived={t`calculated`} {...draw} />
          {points.some((k) => k.derived) && (
            <p className="small dim">
              <Trans>Solid: mostly bank-reported balances. Dotted: mostly calculated.</Trans>
            </p>
          )}
        </>
      )}
      {offs(points)
        .slice(-3)
        .map((g) => (
          <Note key={g.from.day} mood="warn">
            <span className="grow">
              <Trans>
                An account’s balance doesn’t match its transactions between {{ from: say(g.from.day) }} and{" "}
                {{ to: say(g.to.day) }}.
              </Trans>
            </span>
          </Note>
        ))}
    </Card>
  );
}

/** All currencies together, converted at the household's own exchange rates. */
function Together(p: { start_date: string; currency: string; today: string }) {
  const { data } = useQuery(netWorth({ start_date: p.start_date, interval: "month", by: "type", in: p.currency }));
  const c = data?.points.at(-1)?.converted;
  if (!data) return null;
  if (!c) return <Notes notes={data.notes.filter((n) => n.code === "no_rate")} />;
  const rateDays = Object.entries(c.rate_dates)
    .map(([of, day]) => `${of} (${dayShort(day, p.today)})`)
    .join(", ");
  return (
    <p>
      <Trans>
        About <Sum value={cents(c.net)} currency={c.iso_currency_code} /> including other currencies
        <span className="dim">, at your exchange rates: {rateDays}.</span>
      </Trans>
    </p>
  );
}

/** The parts of the net worth, and how each changed. */
function Parts(p: { worth: NetWorth; currency: string; by: "type" | "account" | "user" }) {
  const money = useMoney();
  const groups = groupsOf(p.worth, p.currency, p.by);
  return (
    <Card title={t`Breakdown`} flush>
      <Lines label={t`Breakdown`}>
        {groups.map((g) => (
          <Item
            key={g.key}
            mark={p.by === "type" ? <span className={`${css.swatch} c${g.tone}`} /> : undefined}
            name={<bdi>{g.name}</bdi>}
            hint={
              g.value === null
                ? t`No balance`
                : g.before === null
                  ? t`No starting balance`
                  : partMoved(g.value, g.before, (c) => money(c, p.currency))
            }
            open={
              p.by === "account"
                ? (name) => (
                    <Link to="/accounts/$id" params={{ id: g.key }} search={{}}>
                      {name}
                    </Link>
                  )
                : undefined
            }
            end={g.value === null ? <span className="dim">–</span> : <Sum value={g.value} currency={p.currency} />}
          />
        ))}
      </Lines>
    </Card>
  );
}
