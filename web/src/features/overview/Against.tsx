import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Link } from "@tanstack/react-router";
import type { Cashflow, CashflowCurrency } from "#/api/cashflow";
import { firstDay, lastDay, monthOf, monthWord, shift } from "#/lib/dates";
import { abs, cents, rounded } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { useCategories } from "#/parts/categories";
import { type Books, reaches } from "#/parts/empty";
import { nodeName, searchOf } from "#/parts/flow";
import { Ranked } from "#/parts/Ranked";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";

const shown = 8;

/** Spending by category, compared with the month before. A current month is compared up to the same day. */
export function Against(p: {
  month: string;
  today: string;
  currency: string;
  flow?: CashflowCurrency;
  period: Cashflow["period"];
  books: Books;
}) {
  const money = useMoney();
  const { look } = useCategories();
  const hidden = amounts.use() === "hidden";
  const days = { from: firstDay(p.month), to: lastDay(p.month) };
  const until = p.period.previous?.end_date ?? "";
  const day = Number(until.slice(8));
  const known = reaches(p.books, p.period.previous?.start_date);
  const spent = (p.flow?.nodes ?? []).filter((n) => n.kind === "category");
  return (
    <Card
      title={known ? t`Spending vs. ${{ month: monthWord(shift(p.month, -1)) }}` : t`Spending`}
      aside={
        <>
          {known && monthOf(p.today) === p.month && <span>{t`through day ${day}`} · </span>}
          <Link className="link" to="/cash-flow" search={{ at: p.month }}>
            <Trans>View all</Trans>
          </Link>
        </>
      }
    >
      {spent.length === 0 && (
        <p className="dim">
          <Trans>No spending yet.</Trans>
        </p>
      )}
      <Ranked
        currency={p.currency}
        ranks={spent.slice(0, shown).map((n) => ({
          id: n.id,
          name: nodeName(n),
          look: look(n.category),
          amount: cents(n.amount),
          ...(known && { before: cents(n.previous ?? 0) }),
          search: { ...days, ...searchOf(n.id, new Map()) },
        }))}
        change={(now, before) => {
          const d = now - before;
          return d === 0n
            ? t`no change`
            : `${d > 0n ? "+" : "−"}${hidden ? money(d, p.currency) : rounded(abs(d), p.currency)}`;
        }}
      />
    </Card>
  );
}
