import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { overview } from "#/api/overview";
import { type Order, type Payee, payeeAt, payees, type Similar } from "#/api/payees";
import { payee } from "#/api/transactions";
import { dayShort, firstDay, monthOf, shift } from "#/lib/dates";
import { cents } from "#/lib/money";
import { transactions } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { Fault } from "#/parts/Fault";
import { useApart, useNaming } from "#/parts/payees";
import { Amount } from "#/ui/Amount";
import { Button, Segments } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Tile } from "#/ui/Chip";
import { Item, Lines } from "#/ui/Lines";

const orders = () =>
  [
    ["spent", t`Most spent`],
    ["count", t`Most often`],
    ["last", t`Newest`],
    ["name", t`Name`],
  ] as const;

/** All payees of the last 12 months, and suggestions which of them are the same. */
export function Payees({ typed, write }: { typed: string; write: boolean }) {
  const today = useQuery(overview).data?.today;
  const [order, setOrder] = useState<Order>("spent");
  const word = useDeferredValue(typed.trim());
  const list = useInfiniteQuery({
    ...payees({
      sort_by: order,
      ...(word ? { search: word } : {}),
      start_date: today && firstDay(shift(monthOf(today), -11)),
    }),
    enabled: today !== undefined,
  });
  const { look, name } = useCategories();
  const first = list.data?.pages[0];
  const rows = list.data?.pages.flatMap((p) => p.payees) ?? [];
  return (
    <>
      {write && !word && <Proposals sets={first?.similar ?? []} />}
      <Card
        flush
        title={first && plural(first.total, { one: "# payee", other: "# payees" })}
        aside={<Segments label={t`Sort by`} value={order} options={orders()} onChange={setOrder} />}
        foot={
          list.hasNextPage && (
            <Button onClick={() => void list.fetchNextPage()} disabled={list.isFetchingNextPage}>
              <Trans>Load more</Trans>
            </Button>
          )
        }
      >
        {list.error && <Fault error={list.error} what={t`payees`} retry={() => void list.refetch()} />}
        {!list.data && !list.error && <Skeleton rows={6} />}
        {list.data && rows.length === 0 && (
          <Empty title={word ? t`No matching payees` : t`No payees yet`}>
            <Trans>Payees come with your transactions.</Trans>
          </Empty>
        )}
        <Lines label={t`Payees`}>
          {rows.map((p: Payee) => (
            <Item
              key={`${payeeAt(p)} ${p.iso_currency_code}`}
              mark={<Tile {...look(p.category)} />}
              name={<bdi>{payee(p)}</bdi>}
              hint={[
                transactions(p.count),
                p.category ? name(p.category) : t`Uncategorized`,
                dayShort(p.last_date, today ?? p.last_date),
              ].join(" · ")}
              open={(n) => (
                <Link to="/payees/$id" params={{ id: payeeAt(p) }}>
                  {n}
                </Link>
              )}
              end={<Amount value={cents(p.money_out) - cents(p.money_in)} currency={p.iso_currency_code} />}
            />
          ))}
        </Lines>
      </Card>
    </>
  );
}

const shown = 3;

/** Sets of payees that look alike. One press merges a set. */
function Proposals({ sets }: { sets: readonly (readonly Similar[])[] }) {
  const { open, part } = useApart(sets);
  const merge = useNaming(true);
  if (open.length === 0) return null;
  return (
    <Card flush title={t`Same payee?`} aside={plural(open.length, { one: "# suggestion", other: "# suggestions" })}>
      <Lines label={t`Same payee?`}>
        {open.slice(0, shown).map((set) => {
          const keys = set.map((s) => s.payee);
          const total = set.reduce((n, s) => n + s.count, 0);
          const names = set.map((s) => s.payee_name).join(", ");
          const into = set.find((s) => s.counterparty_id) ?? set[0];
          return (
            <Item
              key={keys.join(" ")}
              below
              name={<bdi>{names}</bdi>}
              hint={`${set.map((s) => s.count).join(" + ")} · ${transactions(total)}`}
              end={
                <>
                  <Button kind="quiet" aria-label={t`Don’t merge: ${{ payees: names }}`} onClick={() => part(set)}>
                    <Trans>Don’t merge</Trans>
                  </Button>
                  <Button
                    aria-label={t`Merge ${{ count: set.length }}: ${{ payees: names }}`}
                    disabled={merge.isPending}
                    onClick={() =>
                      into &&
                      merge.mutate({
                        payees: keys,
                        ...(into.counterparty_id
                          ? { counterparty_id: into.counterparty_id }
                          : { name: into.payee_name }),
                      })
                    }
                  >
                    {t`Merge ${set.length}`}
                  </Button>
                </>
              }
            />
          );
        })}
      </Lines>
    </Card>
  );
}
