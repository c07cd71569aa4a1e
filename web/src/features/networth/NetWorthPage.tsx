import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type NetWorth, netWorth, rates } from "#/api/networth";
import { overview } from "#/api/overview";
import { Balance } from "#/charts/Balance";
import { offs } from "#/charts/spans";
import type { WorthSearch } from "#/lib/address";
import { dayShort, firstDay, localDay, monthOf, shift } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { cents, compact } from "#/lib/money";
import { Currencies } from "#/parts/Currencies";
import { Fault } from "#/parts/Fault";
import { Notes } from "#/parts/Notes";
import { Top } from "#/parts/Top";
import { Figure, Sum, useMoney } from "#/ui/Amount";
import { Segments } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { Note } from "#/ui/Form";
import { Item, Lines } from "#/ui/Lines";
import { Page } from "#/ui/Page";
import { AllBooks } from "./AllBooks";
import { groupsOf, lineOf, since } from "./worth";

const spans = [
  ["1", "1 year"],
  ["3", "3 years"],
  ["10", "10 years"],
] as const;
const kinds = [
  ["type", "By kind"],
  ["account", "By account"],
  ["user", "By member"],
] as const;

/** What the household owns and owes, how that came about, and whether the books behind it add up. */
export function NetWorthPage() {
  const search = useSearch({ from: "/net-worth" });
  const go = useNavigate({ from: "/net-worth" });
  const set = (s: Partial<WorthSearch>) => void go({ search: (o) => ({ ...o, ...s }), resetScroll: false });
  const today = useQuery(overview).data?.today ?? localDay(new Date());
  const years = search.years ?? "1";
  const by = search.by ?? "type";
  const converts = (useQuery(rates).data?.rates.length ?? 0) > 0;
  const start_date = firstDay(shift(monthOf(today), -12 * Number(years)));
  const plain = useQuery(netWorth({ start_date, interval: years === "1" ? "week" : "month", by }));
  const currencies = [...new Set(plain.data?.points.at(-1)?.totals.map((t) => t.iso_currency_code))];
  const currency = search.currency && currencies.includes(search.currency) ? search.currency : (currencies[0] ?? "");
  return (
    <>
      <Top title="Net worth" />
      <Page>
        <div className="row wrap">
          <Segments
            label="How far back"
            value={years}
            options={spans}
            onChange={(v) => set({ years: v === "1" ? undefined : v })}
          />
          <Segments
            label="Parts"
            value={by}
            options={kinds}
            onChange={(v) => set({ by: v === "type" ? undefined : v })}
          />
          <Currencies value={currency} all={currencies} onChange={(v) => set({ currency: v })} />
        </div>
        {plain.error && <Fault error={plain.error} what="The net worth" retry={() => void plain.refetch()} />}
        <Notes notes={plain.data?.notes} />
        {!plain.data && !plain.error && (
          <Card>
            <Bones tall />
          </Card>
        )}
        {plain.data && currencies.length === 0 && (
          <Card>
            <Empty
              title="There are no accounts yet"
              action={
                <Link className="link" to="/accounts" search={{}}>
                  Add an account
                </Link>
              }
            >
              Link a bank, import a statement or add an account by hand; what they hold is added up here.
            </Empty>
          </Card>
        )}
        {plain.data && currency && (
          <>
            <Worth worth={plain.data} currency={currency} today={today}>
              {converts && currencies.length > 1 && (
                <Together start_date={start_date} currency={currency} today={today} />
              )}
            </Worth>
            <Parts worth={plain.data} currency={currency} by={by} />
            <AllBooks today={today} />
          </>
        )}
      </Page>
    </>
  );
}

/** One currency: what it comes to today, and the line that led there, with words for all that is drawn otherwise. */
function Worth(p: { worth: NetWorth; currency: string; today: string; children: React.ReactNode }) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const points = lineOf(p.worth, p.currency);
  const now = p.worth.points.at(-1)?.totals.find((t) => t.iso_currency_code === p.currency);
  const [first, last] = [points[0], points.at(-1)];
  const say = (d: string) => dayShort(d, p.today);
  return (
    <Card title={`Owned in all, in ${p.currency}`}>
      {now && now.net !== null ? (
        <div className="row wrap">
          <Figure value={cents(now.net)} currency={p.currency} size="large" />
          <span className="dim">
            owned <Sum value={cents(now.assets ?? 0)} currency={p.currency} />, owed{" "}
            <Sum value={cents(now.debts ?? 0)} currency={p.currency} />
          </span>
        </div>
      ) : (
        <p className="dim">Nobody has stated a balance of an account in {p.currency}. Set one on its page.</p>
      )}
      {p.children}
      {first && last && first !== last && (
        <>
          <p className="dim">{since(p.worth, p.currency, (c) => money(c, p.currency), say)}</p>
          <Balance
            points={points}
            today={p.today}
            say={(c) => money(c, p.currency)}
            axis={(c) => (hidden ? "" : compact(c, p.currency))}
            derived="reckoned"
          />
          {points.some((k) => k.derived) && (
            <p className="small dim">
              Solid: most balances of the day were stated. Dotted: most follow from the payments or from the last value.
            </p>
          )}
          {offs(points)
            .slice(-3)
            .map((g) => (
              <Note key={g.from.day} mood="warn">
                <span className="grow">
                  The books of an account do not add up between {say(g.from.day)} and {say(g.to.day)}. These days are
                  hatched.
                </span>
              </Note>
            ))}
        </>
      )}
    </Card>
  );
}

/** All currencies together, by the household's own rates. */
function Together(p: { start_date: string; currency: string; today: string }) {
  const { data } = useQuery(netWorth({ start_date: p.start_date, interval: "month", by: "type", in: p.currency }));
  const c = data?.points.at(-1)?.converted;
  if (!data) return null;
  if (!c) return <Notes notes={data.notes.filter((n) => n.code === "no_rate")} />;
  const days = Object.entries(c.rate_dates).map(([of, day]) => `${of} of ${dayShort(day, p.today)}`);
  return (
    <p>
      About <Sum value={cents(c.net)} currency={c.iso_currency_code} /> with the other currencies
      <span className="dim"> by your own rates: {days.join(", ")}.</span>
    </p>
  );
}

/** What it is made of, and how each part moved. */
function Parts(p: { worth: NetWorth; currency: string; by: "type" | "account" | "user" }) {
  const money = useMoney();
  const groups = groupsOf(p.worth, p.currency, p.by);
  return (
    <Card title="What it is made of" flush>
      <Lines label="Parts">
        {groups.map((g) => (
          <Item
            key={g.key}
            name={<bdi>{g.name}</bdi>}
            hint={
              g.value === null
                ? "No balance is known"
                : g.before === null
                  ? "Not known at the start"
                  : `${money(g.before, p.currency)} at the start`
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
            end={
              g.value === null ? <span className="dim">unknown</span> : <Sum value={g.value} currency={p.currency} />
            }
          />
        ))}
      </Lines>
    </Card>
  );
}
