import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type Group, summary } from "#/api/transactions";
import { balance, fold, type Stream } from "#/charts/flow";
import { Sankey } from "#/charts/Sankey";
import { firstDay, lastDay, monthOf, monthWord, shift } from "#/lib/dates";
import { amounts } from "#/lib/kept";
import { abs, type Cents, cents, length, rounded } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Sum, useMoney } from "#/ui/Amount";
import { Bones, Card, Empty } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { spent } from "./figures";
import css from "./OverviewPage.module.css";

const useMonth = (month: string, end = lastDay(month)) =>
  useQuery(summary({ group_by: ["category"], start_date: firstDay(month), end_date: end }));

/** The month's money as ribbons: who paid, and what it was spent on. */
export function WentTo({ month, currency }: { month: string; currency: string }) {
  const go = useNavigate();
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const brief = (c: Cents) => (hidden ? "••••" : rounded(c, currency));
  const { data } = useMonth(month);
  const { look, name, parent } = useCategories();
  const groups = (data?.groups ?? []).filter((g) => g.iso_currency_code === currency);
  const slugOf = (g: Group) => g.keys.category ?? "";
  const paid: Stream[] = groups
    .map((g) => ({ g, net: cents(g.money_in) - cents(g.money_out) }))
    .filter((x) => x.net > 0n)
    .map(({ g, net }) => ({
      id: slugOf(g),
      name: slugOf(g) ? name(slugOf(g)) : "No category",
      amount: net,
      slug: slugOf(g),
    }));
  const went: Stream[] = spent(
    groups.filter((g) => g.money_out > g.money_in),
    [],
    currency,
    (s) => parent(s) ?? s,
  ).map((s) => ({
    id: s.slug,
    name: s.slug ? name(s.slug) : "No category",
    amount: s.now,
    tone: look(s.slug).tone,
    slug: s.slug,
  }));
  const { sources, targets } = balance(fold(paid, 5), fold(went, 8));
  const total = sources.reduce((n, s) => n + s.amount, 0n);
  const open = (s: Stream) =>
    void go({
      to: "/transactions",
      search: {
        from: firstDay(month),
        to: lastDay(month),
        ...(s.slug ? { category: s.slug } : { uncategorized: true }),
      },
    });
  return (
    <Card title="Where it went" aside="Choose a ribbon to see its transactions">
      {!data && <Bones tall />}
      {data && total === 0n && <Empty title="Nothing yet">No money has moved in {monthWord(month)}.</Empty>}
      {data && total > 0n && (
        <Sankey
          sources={sources}
          targets={targets}
          hub={`In ${brief(total)}`}
          say={(c) => money(c, currency)}
          brief={brief}
          onOpen={open}
        />
      )}
    </Card>
  );
}

/** What each category cost beside the month before, like for like while the month still runs. */
export function Against({ month, today, currency }: { month: string; today: string; currency: string }) {
  const money = useMoney();
  const before = shift(month, -1);
  const running = monthOf(today) === month;
  const day = running ? today.slice(8) : "31";
  const same = `${before}-${day}` < lastDay(before) ? `${before}-${day}` : lastDay(before);
  const now = useMonth(month);
  const then = useMonth(before, same);
  const { look, name, parent, kind } = useCategories();
  const all = spent(now.data?.groups ?? [], then.data?.groups ?? [], currency, (s) => parent(s) ?? s)
    .filter((s) => s.now > 0n && kind(s.slug) !== "income")
    .slice(0, 8);
  const most = all[0]?.now ?? 1n;
  return (
    <Card title={`Against ${monthWord(before)}`} aside={running ? `to day ${Number(day)}` : undefined}>
      {(!now.data || !then.data) && <Bones rows={6} />}
      {now.data && then.data && all.length === 0 && <p className="dim">Nothing was spent yet.</p>}
      <ul className={css.bars}>
        {now.data &&
          then.data &&
          all.map((s) => {
            const l = look(s.slug);
            const more = s.now - s.before;
            return (
              <li key={s.slug} className={`c${l.tone}`}>
                <Link
                  to="/transactions"
                  search={{
                    from: firstDay(month),
                    to: lastDay(month),
                    ...(s.slug ? { category: s.slug } : { uncategorized: true as const }),
                  }}
                >
                  <Tile {...l} />
                  <span className="cut">{s.slug ? name(s.slug) : "No category"}</span>
                  <Sum value={s.now} currency={currency} />
                  <span className={more > 0n ? css.more : css.less}>
                    {more === 0n ? "same" : `${more > 0n ? "+" : "−"}${money(abs(more), currency)}`}
                  </span>
                  <svg className={css.bar} aria-hidden="true">
                    <rect className={css.track} width="100%" height="4" rx="2" />
                    <rect className={css.value} width={`${(100 * length(s.now)) / length(most)}%`} height="4" rx="2" />
                  </svg>
                </Link>
              </li>
            );
          })}
      </ul>
    </Card>
  );
}
