import { plural, t } from "@lingui/core/macro";
import type { CashflowCurrency, CashflowNode } from "#/api/cashflow";
import { abs, type Cents, cents, rounded } from "#/lib/money";
import { amounts } from "#/lib/persisted";
import type { Look } from "#/lib/tones";
import { useCategories } from "#/parts/categories";
import { nodeName, searchOf } from "#/parts/flow";
import { type Rank, Ranked } from "#/parts/Ranked";
import { useMoney } from "#/ui/Amount";
import { Card } from "#/ui/Card";

const few = 3;

/** The cash flow as lists of figures: income, spending and accounts, the largest first. */
export function Sides(p: {
  flow: CashflowCurrency;
  days: { from: string; to: string };
  accounts: ReadonlyMap<string, string>;
  compared: boolean;
  today: string;
}) {
  const money = useMoney();
  const hidden = amounts.use() === "hidden";
  const { look } = useCategories();
  const currency = p.flow.iso_currency_code;
  const looks = (n: CashflowNode): Look =>
    n.kind === "account"
      ? { tone: 0, icon: "bank" }
      : n.kind === "saved" || n.kind === "drawn"
        ? { tone: n.kind === "saved" ? 5 : 0, icon: "coin" }
        : look(n.category ?? "");
  const parts = (n: CashflowNode) => {
    const named = (n.parts ?? []).slice(0, few).map((x) => `${x.name} ${money(cents(x.amount), currency)}`);
    const more = (n.parts?.length ?? 0) - named.length;
    return [...named, ...(more > 0 ? [plural(more, { one: "# more", other: "# more" })] : [])].join(", ");
  };
  const ranks = (...kinds: CashflowNode["kind"][]): Rank[] =>
    p.flow.nodes
      .filter((n) => kinds.includes(n.kind) && (n.amount > 0 || n.category))
      .map((n) => {
        const found = searchOf(n.id, p.accounts);
        return {
          id: n.id,
          name: nodeName(n),
          look: looks(n),
          amount: cents(n.amount),
          before: n.previous === undefined || n.previous === null ? undefined : cents(n.previous),
          hint: parts(n) || undefined,
          search: found && { ...p.days, ...found },
        };
      });
  const change = (now: Cents, before: Cents) => {
    const d = now - before;
    return d === 0n ? t`no change` : `${d > 0n ? "+" : "−"}${hidden ? money(d, currency) : rounded(abs(d), currency)}`;
  };
  const list = (title: string, all: Rank[]) =>
    all.length > 0 && (
      <Card title={title}>
        <Ranked ranks={all} currency={currency} change={p.compared ? change : undefined} />
      </Card>
    );
  return (
    <>
      {list(t`Spending by category`, ranks("category", "saved"))}
      {list(t`Income by category`, ranks("income", "drawn"))}
      {p.accounts.size > 0 && list(t`Cash flow by account`, ranks("account"))}
    </>
  );
}
