import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { accountName, accounts } from "#/api/accounts";
import type { Recurring } from "#/api/recurring";
import { newest } from "#/api/transactions";
import { abs, cents } from "#/lib/money";
import { useCategories } from "#/parts/categories";
import { Amount, useMoney } from "#/ui/Amount";
import { Button } from "#/ui/Button";
import { Badge, Tile } from "#/ui/Chip";
import { Icon } from "#/ui/Icon";
import { Item } from "#/ui/Lines";
import { useDecide } from "./decide";
import css from "./RecurringPage.module.css";
import { called, change, type marksOf, recentChangeOf, when } from "./words";

const longest = 60; // characters of the bank's text that are shown

type Props = {
  one: Recurring;
  today: string;
  writes: boolean;
  /** The properties to show, because other contracts have the same name. */
  marks: ReturnType<typeof marksOf>;
};

/** A recurring payment: its amount, when it is due, and its price change if that is recent. The line opens its page. */
export function RecurringLine({ one: r, today, writes, marks }: Props) {
  const { look, name: categoryName } = useCategories();
  const account = useQuery({ ...accounts, enabled: marks.account }).data?.find((a) => a.id === r.account_id);
  const last = useQuery({ ...newest({ recurring_id: r.short_id }, 1), enabled: marks.text }).data?.transactions[0];
  const money = useMoney();
  const decide = useDecide(r);
  const recentChange = recentChangeOf(r, today);
  const price = recentChange && change(r, recentChange, today, (n) => money(n, r.iso_currency_code));
  const dismissed = r.state === "dismissed";
  return (
    <Item
      mark={<Tile {...look(r.category)} />}
      name={
        <>
          <bdi>{called(r)}</bdi>{" "}
          {r.status === "late" && !dismissed && (
            <Badge mood="warn">
              <Trans>overdue</Trans>
            </Badge>
          )}
        </>
      }
      open={(name) => (
        <Link to="/recurring/$id" params={{ id: r.short_id }}>
          {name}
        </Link>
      )}
      hint={
        <>
          {when(r, today)}
          {marks.account && account && (
            <>
              {" · "}
              <bdi>{accountName(account)}</bdi>
            </>
          )}
          {marks.category && ` · ${r.category ? categoryName(r.category) : t`Uncategorized`}`}
          {marks.text && last && (
            <>
              {" · "}
              <bdi>{[last.name, last.detail].filter(Boolean).join(" · ").slice(0, longest)}</bdi>
            </>
          )}
        </>
      }
      end={
        <>
          {price && (
            <Badge mood={price.mood}>
              <span className="sr">
                <Trans>New price: {{ prices: price.prices }}</Trans>
              </span>
              <Icon name={price.by.startsWith("+") ? "up" : "dn"} small />
              <span className={css.by} aria-hidden="true">
                {price.by}
              </span>
            </Badge>
          )}
          <span className={css.sums}>
            {r.amount_type === "variable" ? (
              <span>
                <Trans>
                  <span className="dim">about</span> <Amount value={cents(r.amount)} currency={r.iso_currency_code} />
                </Trans>
              </span>
            ) : (
              <Amount value={cents(r.amount)} currency={r.iso_currency_code} />
            )}
            {r.cadence !== "yearly" && r.next_date && (
              <span className="small dim">
                <Trans>{{ amount: money(abs(cents(r.yearly_amount)), r.iso_currency_code) }} per year</Trans>
              </span>
            )}
          </span>
          {writes && dismissed ? (
            <Button
              kind="quiet"
              icon="undo"
              disabled={decide.isPending}
              onClick={() => decide.mutate({ state: "auto" })}
            >
              <Trans>Restore</Trans>
            </Button>
          ) : (
            <span className={css.opens}>
              <Icon name="chev" small />
            </span>
          )}
        </>
      }
    />
  );
}
