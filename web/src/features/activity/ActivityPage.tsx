import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type Change, type ChangeFilters, changes } from "#/api/changes";
import { rules } from "#/api/rules";
import { session } from "#/api/session";
import type { ActivitySearch } from "#/lib/address";
import { dayHead } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { useUndoKeys } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { LookOnly } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { useTold } from "#/parts/useTold";
import { Button, Segments } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { PickerButton, Toggle } from "#/ui/Picker";
import css from "./ActivityPage.module.css";
import { AgentCard } from "./AgentCard";
import { DeedCard } from "./DeedCard";
import { causeNames, daysOf } from "./days";

const filtersOf = (s: ActivitySearch): ChangeFilters => ({
  ...(s.who === "mine" ? { mine: true } : s.who === "agents" ? { actor_type: "agent" } : {}),
  ...(s.actor ? { actor_id: s.actor } : {}),
  ...(s.cause ? { cause: s.cause } : {}),
  ...(s.rule ? { rule_id: s.rule } : {}),
  ...(s.transaction ? { transaction_id: s.transaction } : {}),
});

/** Everybody of the changes, by name. */
const actorsOf = (all: Change[]) =>
  [...new Map(all.flatMap((c) => (c.actor_id ? [[c.actor_id, c] as const] : [])))]
    .map(([value, c]) => ({ value, label: c.actor_name, hint: c.actor_type === "agent" ? "Agent" : undefined }))
    .sort((a, b) => a.label.localeCompare(b.label));

export function ActivityPage() {
  const go = useNavigate({ from: "/activity" });
  const search = useSearch({ from: "/activity" });
  const list = useInfiniteQuery(changes(filtersOf(search)));
  const everyone = useInfiniteQuery(changes({}));
  const may = useQuery(session).data?.can.write === true;
  const loaded = (list.data?.pages ?? []).flatMap((p) => p.changes);
  const days = daysOf(loaded);
  const tell = useTold(loaded);
  const book = useQuery(rules).data ?? [];
  const rule = book.find((r) => search.rule === r.short_id || search.rule === r.id);
  const who = search.who ?? "all";
  const set = (change: ActivitySearch) => void go({ search: (s) => ({ ...s, ...change }), replace: true });
  const narrowed = Object.values(search).some((v) => v !== undefined);
  useKeys(useUndoKeys());
  return (
    <>
      <Top title="Activity">
        <Segments
          label="Whose"
          value={who}
          options={[
            ["all", "All"],
            ["mine", "Mine"],
            ["agents", "Agents"],
          ]}
          onChange={(v) => set({ who: v === "all" ? undefined : v, actor: undefined })}
        />
      </Top>
      <div className={css.page}>
        <div className="row wrap">
          <PickerButton
            label="Who"
            choices={actorsOf([...loaded, ...(everyone.data?.pages ?? []).flatMap((p) => p.changes)])}
            value={search.actor}
            onPick={(c) => set({ actor: c.value, who: undefined })}
            onClear={() => set({ actor: undefined })}
          >
            Who
          </PickerButton>
          <PickerButton
            label="How"
            choices={causeNames.map(([value, label]) => ({ value, label }))}
            value={search.cause}
            onPick={(c) => set({ cause: c.value as Change["cause"] })}
            onClear={() => set({ cause: undefined })}
          >
            How
          </PickerButton>
          {book.length > 0 && (
            <PickerButton
              label="Rule"
              choices={book.map((r) => ({ value: r.short_id, label: r.name }))}
              value={rule?.short_id}
              onPick={(c) => set({ rule: c.value })}
              onClear={() => set({ rule: undefined })}
            >
              Rule
            </PickerButton>
          )}
          {search.rule && !rule && (
            <Toggle on onChange={() => set({ rule: undefined })}>
              One rule
            </Toggle>
          )}
          {search.transaction && (
            <Toggle on onChange={() => set({ transaction: undefined })}>
              One payment
            </Toggle>
          )}
          {narrowed && (
            <Button kind="quiet" onClick={() => void go({ search: {}, replace: true })}>
              Show all
            </Button>
          )}
        </div>
        <LookOnly />
        {list.error && <Fault error={list.error} what="The activity" retry={() => void list.refetch()} />}
        {!list.data && !list.error && (
          <Card>
            <Bones rows={6} />
          </Card>
        )}
        {list.data && days.length === 0 && (
          <Card>
            <Empty
              title={
                who === "agents"
                  ? "No agent has changed anything"
                  : narrowed
                    ? "Nothing of that kind"
                    : "Nothing was changed yet"
              }
            >
              Everything that people, rules, agents and banks do is listed here, and can be undone.
            </Empty>
          </Card>
        )}
        {days.map((d) => (
          <section key={d.day} className={css.day}>
            <h2 className={css.dayhead}>{dayHead(d.day)}</h2>
            {d.groups.map((g) => {
              const deed = g.deeds[0];
              if (!deed) return null;
              if (g.actor) return <AgentCard key={deed.change.id} group={g} actor={g.actor} tell={tell} writes={may} />;
              return <DeedCard key={deed.change.id} deed={deed} tell={tell} writes={may} />;
            })}
          </section>
        ))}
        {list.hasNextPage && (
          <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Load older ones
          </Button>
        )}
      </div>
    </>
  );
}
