import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter } from "@tanstack/react-router";
import type { CashflowCurrency } from "#/api/cashflow";
import { summary } from "#/api/transactions";
import { Bars } from "#/charts/Bars";
import { firstDay, lastDay, monthOf, shift } from "#/lib/dates";
import { cents, compact } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import { useCategories, within } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { useMoney } from "#/ui/Amount";
import { Card, Skeleton } from "#/ui/Card";
import { Select } from "#/ui/Form";

const months = 13;

/** One category by month. The dotted line is the average. */
export function Trend(p: {
  currency: string;
  today: string;
  category?: string;
  flow: CashflowCurrency;
  onChoose: (slug: string) => void;
}) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const { look, name, kind, choices } = useCategories();
  const go = useNavigate();
  const router = useRouter();
  const largest = p.flow.nodes.find((n) => n.kind === "category" && n.category)?.category;
  const slug = p.category ?? largest ?? "";
  const last = monthOf(p.today);
  const query = useQuery({
    ...summary({
      group_by: ["month"],
      category: [slug],
      start_date: firstDay(shift(last, 1 - months)),
      end_date: lastDay(last),
    }),
    enabled: slug !== "",
  });
  if (!slug) return null;
  const sign = kind(slug) === "income" ? 1n : -1n;
  const by = new Map(
    query.data?.groups.filter((g) => g.iso_currency_code === p.currency).map((g) => [g.keys.month, cents(g.net)]),
  );
  const bars = Array.from({ length: months }, (_, i) => {
    const month = shift(last, i + 1 - months);
    return { month, value: sign * (by.get(month) ?? 0n) };
  });
  const way = (month: string) => {
    const search = { category: slug, from: firstDay(month), to: lastDay(month) };
    return {
      href: router.buildLocation({ to: "/transactions", search }).href,
      go: () => void go({ to: "/transactions", search }),
    };
  };
  return (
    <Card title={t`Monthly trend`} aside={t`Dotted line: average`}>
      <Select
        label={t`Category`}
        value={slug}
        options={choices.map((c) => [c.value, within(c.hint, c.label)] as const)}
        onChange={(e) => p.onChoose(e.target.value)}
      />
      {query.error && <Fault error={query.error} what={t`trends`} retry={() => void query.refetch()} />}
      {!query.data && !query.error && <Skeleton tall />}
      {query.data && (
        <Bars
          name={name(slug)}
          bars={bars}
          tone={look(slug).tone}
          say={(c) => money(c, p.currency)}
          axis={(c) => (hidden ? "" : compact(c, p.currency))}
          way={way}
        />
      )}
    </Card>
  );
}
