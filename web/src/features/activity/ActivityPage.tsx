import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { changes } from "#/api/changes";
import { session, writes } from "#/api/session";
import { dayHead } from "#/lib/dates";
import { Fault } from "#/parts/Fault";
import { Top } from "#/parts/Top";
import { Button, Segments } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import css from "./ActivityPage.module.css";
import { DeedCard } from "./DeedCard";
import { daysOf } from "./days";

const filters = { all: {}, mine: { mine: true }, agents: { actor_type: "agent" } } as const;

export function ActivityPage() {
  const go = useNavigate({ from: "/activity" });
  const who = useSearch({ from: "/activity" }).who ?? "all";
  const list = useInfiniteQuery(changes(filters[who]));
  const may = writes(useQuery(session).data?.user?.role);
  const days = daysOf((list.data?.pages ?? []).flatMap((p) => p.changes));
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
          onChange={(v) => void go({ search: { who: v === "all" ? undefined : v } })}
        />
      </Top>
      <div className={css.page}>
        {list.error && <Fault error={list.error} what="The activity" retry={() => void list.refetch()} />}
        {!list.data && !list.error && (
          <Card>
            <Bones rows={6} />
          </Card>
        )}
        {list.data && days.length === 0 && (
          <Card>
            <Empty title={who === "agents" ? "No agent has changed anything" : "Nothing was changed yet"}>
              Everything that people, rules, agents and banks do is listed here, and can be taken back.
            </Empty>
          </Card>
        )}
        {days.map((d) => (
          <section key={d.day} className={css.day}>
            <h2 className={css.dayhead}>{dayHead(d.day)}</h2>
            {d.deeds.map((deed) => (
              <DeedCard key={deed.change.id} deed={deed} writes={may} />
            ))}
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
