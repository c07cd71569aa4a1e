import { plural, t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Leaf, type Node, tree } from "#/api/filing";
import { lookOf } from "#/lib/tones";
import { Fault } from "#/parts/Fault";
import { Amount } from "#/ui/Amount";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Badge, Tile } from "#/ui/Chip";
import { Fold, Item, Lines } from "#/ui/Lines";
import { CategoryForm } from "./CategoryForm";
import { Opens } from "./Opens";
import css from "./Opens.module.css";
import { find, none, sums, times, total, type Use } from "./uses";
import { useUses } from "./useUses";

/** The total of a use, with one line for each currency. */
export function Cost({ use }: { use: Use }) {
  return (
    <span className={css.sums}>
      {sums(use).map(([currency, n]) => (
        <Amount key={currency} value={n} currency={currency} quiet />
      ))}
    </span>
  );
}

/** The tree of categories, with a card for each category at the top level. */
export function Tree({ typed, write }: { typed: string; write: boolean }) {
  const list = useQuery(tree);
  const uses = useUses("category");
  const [open, setOpen] = useState<Leaf | null>(null);
  if (list.error) return <Fault error={list.error} what={t`categories`} retry={() => void list.refetch()} />;
  if (!list.data)
    return (
      <Card>
        <Skeleton rows={8} />
      </Card>
    );
  const shown = find(list.data, typed);
  const line = (c: Leaf, top?: Node) => {
    const use = top && c === top ? total(top, uses) : (uses.get(c.slug) ?? none);
    const look = lookOf(c.slug, c.parent_slug, c, top);
    return (
      <Item
        key={c.id}
        mark={top && c === top ? <Tile tone={look.tone} icon={look.icon} large /> : undefined}
        name={<bdi className={c === top ? "strong" : undefined}>{c.display_name}</bdi>}
        hint={times(use.count)}
        end={
          <>
            {c.hidden && (
              <Badge>
                <Trans>Hidden</Trans>
              </Badge>
            )}
            <Cost use={use} />
          </>
        }
        open={(name) => (
          <Opens write={write} onOpen={() => setOpen(c)} category={c.slug}>
            {name}
          </Opens>
        )}
      />
    );
  };
  return (
    <>
      {shown.length === 0 && (
        <Card>
          <Empty title={t`No matching categories`}>
            <Trans>Search matches category and parent names.</Trans>
          </Empty>
        </Card>
      )}
      <div className={css.columns}>
        {shown.map((n) => {
          const idle = typed.trim() || uses.size === 0 ? [] : n.children.filter((c) => !uses.has(c.slug));
          return (
            <Card key={n.id} flush>
              <Lines label={n.display_name}>
                {line(n, n)}
                {n.children.filter((c) => !idle.includes(c)).map((c) => line(c))}
              </Lines>
              {idle.length > 0 && (
                <Fold name={plural({ count: idle.length }, { one: "# unused", other: "# unused" })}>
                  <Lines label={t`${{ category: n.display_name }}, unused`}>{idle.map((c) => line(c))}</Lines>
                </Fold>
              )}
            </Card>
          );
        })}
      </div>
      {open && <CategoryForm key={open.id} category={open} onClose={() => setOpen(null)} />}
    </>
  );
}
