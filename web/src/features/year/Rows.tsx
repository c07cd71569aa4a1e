import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { newest, payee, rows } from "#/api/transactions";
import { dayShort } from "#/lib/dates";
import { cents } from "#/lib/money";
import { transactions } from "#/lib/words";
import { Fault } from "#/parts/Fault";
import { reasonOf } from "#/parts/leftOut";
import { Amount } from "#/ui/Amount";
import { Card, Skeleton } from "#/ui/Card";
import css from "./Year.module.css";

type Days = { from: string; to: string };

const few = 20;

/** The transactions that people excluded from totals in a year, and the reasons. */
export function LeftOut({ days, today }: { days: Days; today: string }) {
  const { data } = useQuery(newest({ excluded_reason: "any", start_date: days.from, end_date: days.to }, few));
  if (!data || data.transactions.length === 0) return null;
  return (
    <Card title={t`Excluded from totals`} flush>
      <ul className={css.left}>
        {data.transactions.map((r) => (
          <li key={r.id}>
            <Link to="/transactions" search={{ ...days, left: "any", open: r.short_id }}>
              <span className={css.two}>
                <bdi className={css.cut}>{payee(r)}</bdi>
                <span className="small dim">
                  {reasonOf(r.excluded_reason)} · {dayShort(r.date, today)}
                </span>
              </span>
              <Amount value={cents(r.amount)} currency={r.iso_currency_code} quiet />
            </Link>
          </li>
        ))}
      </ul>
      {data.has_more && (
        <p className={css.more}>
          <Link className="link" to="/transactions" search={{ ...days, left: "any" }}>
            {plural(few, { one: "Only the newest is shown. View all", other: "The newest # are shown. View all" })}
          </Link>
        </p>
      )}
    </Card>
  );
}

/** The transactions of a tag. On paper, each tag starts a new page. */
export function Tagged(p: { tag: string; currency: string; days: Days; today: string; total: string }) {
  const query = useQuery(rows({ tags: [p.tag] }, p.days.from, p.days.to));
  const list = query.data?.filter((r) => r.iso_currency_code === p.currency) ?? [];
  return (
    <div className={css.sheet}>
      <Card title={`#${p.tag}`} aside={query.data && `${transactions(list.length)} · ${p.total}`} flush>
        {query.error && <Fault error={query.error} what={t`the transactions`} retry={() => void query.refetch()} />}
        {!query.data && !query.error && <Skeleton rows={3} />}
        {query.data && (
          <table className={css.table}>
            <thead>
              <tr>
                <th scope="col">
                  <Trans>Date</Trans>
                </th>
                <th scope="col">
                  <Trans>Payee</Trans>
                </th>
                <th scope="col" className={css.wide}>
                  <Trans>Category</Trans>
                </th>
                <th scope="col" className={css.wide}>
                  <Trans>Account</Trans>
                </th>
                <th scope="col" className={css.num}>
                  <Trans>Amount</Trans>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.map((r) => (
                <tr key={r.id} className={css.part}>
                  <td className={css.day}>{dayShort(r.date, p.today)}</td>
                  <td>
                    <Link to="/transactions" search={{ ...p.days, tag: p.tag, open: r.short_id }}>
                      <bdi>{payee(r)}</bdi>
                    </Link>
                    {r.excluded_reason && <span className="small dim"> · {reasonOf(r.excluded_reason)}</span>}
                  </td>
                  <td className={css.wide}>{r.category_display_name ?? t`Uncategorized`}</td>
                  <td className={css.wide}>
                    <bdi>{r.account_name}</bdi>
                  </td>
                  <td className={css.num}>
                    <Amount value={cents(r.amount)} currency={r.iso_currency_code} quiet={r.excluded_reason !== null} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Card>
    </div>
  );
}
