import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type Change, type ChangeFilters, changes } from "#/api/changes";
import { rules } from "#/api/rules";
import { session } from "#/api/session";
import type { ActivitySearch } from "#/lib/address";
import { dayHead } from "#/lib/dates";
import { actorName } from "#/parts/actor";
import { changeSummary } from "#/parts/changeSummary";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly } from "#/parts/rights";
import { Button, Segments } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { each } from "#/ui/Guard";
import { PickerButton, Toggle } from "#/ui/Picker";
import css from "./ActivityPage.module.css";
import { AgentCard } from "./AgentCard";
import { ChangeCard } from "./ChangeCard";
import { causeOf, causes, daysOf } from "./days";

const filtersOf = (s: ActivitySearch): ChangeFilters => ({
  ...(s.who === "mine" ? { mine: true } : s.who === "agents" ? { actor_type: "agent" } : {}),
  ...(s.actor ? { actor_id: s.actor } : {}),
  ...(s.cause ? { cause: s.cause } : {}),
  ...(s.rule ? { rule_id: s.rule } : {}),
  ...(s.transaction ? { transaction_id: s.transaction } : {}),
});

/** The people and programs that made one of these changes, sorted by name. */
const actorsOf = (all: Change[]) =>
  [...new Map(all.flatMap((c) => (c.actor_id ? [[c.actor_id, c] as const] : [])))]
    .map(([value, c]) => ({ value, label: actorName(c), hint: c.actor_type === "agent" ? t`Agent` : undefined }))
    .sort((a, b) => a.label.localeCompare(b.label));

export function ActivityPage() {
  const go = useNavigate({ from: "/activity" });
  const search = useSearch({ from: "/activity" });
  const list = useInfiniteQuery(changes(filtersOf(search)));
  const everyone = useInfiniteQuery(changes({}));
  const may = useQuery(session).data?.can.write === true;
  const loaded = (list.data?.pages ?? []).flatMap((p) => p.changes);
  const days = daysOf(loaded);
  const book = useQuery(rules).data ?? [];
  const rule = book.find((r) => search.rule === r.short_id || search.rule === r.id);
  const who = search.who ?? "all";
  const set = (change: ActivitySearch) => void go({ search: (s) => ({ ...s, ...change }), replace: true });
  const narrowed = Object.values(search).some((v) => v !== undefined);
  return (
    <>
      <PageHeader title={t`Activity`}>
        <Segments
          label={t`Show`}
          value={who}
          options={[
            ["all", t`All`],
            ["mine", t`Mine`],
            ["agents", t`Agents`],
          ]}
          onChange={(v) => set({ who: v === "all" ? undefined : v, actor: undefined })}
        />
      </PageHeader>
      <div className={css.page}>
        <div className="row wrap">
          <PickerButton
            label={t`Made by`}
            choices={actorsOf([...loaded, ...(everyone.data?.pages ?? []).flatMap((p) => p.changes)])}
            value={search.actor}
            onPick={(c) => set({ actor: c.value, who: undefined })}
            onClear={() => set({ actor: undefined })}
          >
            <Trans>Made by</Trans>
          </PickerButton>
          <PickerButton
            label={t`Source`}
            choices={causes.map((value) => ({ value, label: causeOf(value) }))}
            value={search.cause}
            onPick={(c) => set({ cause: c.value as Change["cause"] })}
            onClear={() => set({ cause: undefined })}
          >
            <Trans>Source</Trans>
          </PickerButton>
          {book.length > 0 && (
            <PickerButton
              label={t`Rule`}
              choices={book.map((r) => ({ value: r.short_id, label: r.name }))}
              value={rule?.short_id}
              onPick={(c) => set({ rule: c.value })}
              onClear={() => set({ rule: undefined })}
            >
              <Trans>Rule</Trans>
            </PickerButton>
          )}
          {search.rule && !rule && (
            <Toggle on onChange={() => set({ rule: undefined })}>
              <Trans>Rule</Trans>
            </Toggle>
          )}
          {search.transaction && (
            <Toggle on onChange={() => set({ transaction: undefined })}>
              <Trans>Transaction</Trans>
            </Toggle>
          )}
          {narrowed && (
            <Button kind="quiet" onClick={() => void go({ search: {}, replace: true })}>
              <Trans>Clear filters</Trans>
            </Button>
          )}
        </div>
        <LookOnly />
        {list.error && <Fault error={list.error} what={t`activity`} retry={() => void list.refetch()} />}
        {!list.data && !list.error && (
          <Card>
            <Skeleton rows={6} />
          </Card>
        )}
        {list.data && days.length === 0 && (
          <Card>
            <Empty
              title={
                who === "agents" ? t`No changes by agents` : narrowed ? t`No matching activity` : t`No activity yet`
              }
            >
              <Trans>Every change by people, rules, agents and banks appears here. You can undo any of them.</Trans>
            </Empty>
          </Card>
        )}
        {days.map((d) => (
          <section key={d.day} className={css.day}>
            <h2 className={css.dayhead}>{dayHead(d.day)}</h2>
            {each(
              d.groups.map((g) => {
                const item = g.items[0];
                if (!item) return null;
                if (g.actor)
                  return (
                    <AgentCard key={item.change.id} group={g} actor={g.actor} describe={changeSummary} writes={may} />
                  );
                return <ChangeCard key={item.change.id} item={item} describe={changeSummary} writes={may} />;
              }),
            )}
          </section>
        ))}
        {list.hasNextPage && (
          <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            <Trans>Load more</Trans>
          </Button>
        )}
      </div>
    </>
  );
}
