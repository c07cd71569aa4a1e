import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { overview } from "#/api/overview";
import { session, writes } from "#/api/session";
import { type Operation, waiting } from "#/api/transactions";
import { useKeys } from "#/lib/keys";
import { useCategories } from "#/parts/categories";
import { undo, useEdit } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card, Empty } from "#/ui/Card";
import { type Choice, PickerAt } from "#/ui/Picker";
import { GroupLine } from "./GroupLine";
import { type Group, groupsOf } from "./groups";
import css from "./ReviewPage.module.css";
import { Side } from "./Side";

export function ReviewPage() {
  const client = useQueryClient();
  const list = useInfiniteQuery(waiting);
  const total = useQuery(overview).data?.review.count;
  const may = writes(useQuery(session).data?.user?.role);
  const { choices } = useCategories();
  const edit = useEdit();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [later, setLater] = useState<ReadonlySet<string>>(new Set());
  const [chosen, choose] = useState<string | null>(null);
  const [anchor, setAnchor] = useState<Element | null>(null);
  const [done, setDone] = useState<string[][]>([]);
  const body = useRef<HTMLDivElement>(null);

  const rows = useMemo(
    () => (list.data?.pages ?? []).flatMap((p) => p.transactions).filter((r) => !gone.has(r.id)),
    [list.data, gone],
  );
  const groups = useMemo(() => groupsOf(rows).filter((g) => !later.has(g.key)), [rows, later]);
  const sure = groups.filter((g) => g.sure);
  const look = groups.filter((g) => !g.sure);
  const at = Math.max(
    0,
    groups.findIndex((g) => g.key === chosen),
  );
  const current = groups[at];

  const goTo = (g: Group | undefined) => {
    choose(g?.key ?? null);
    if (g) body.current?.querySelector(`[data-key="${CSS.escape(g.key)}"]`)?.scrollIntoView({ block: "nearest" });
  };
  const close = (which: Group[], said: string, category?: string) => {
    const posted = which.flatMap((g) => g.rows).filter((r) => !r.pending);
    if (!may || !posted.length) return;
    const operations = posted.map(
      (r): Operation => ({ transaction_id: r.id, tags_to_remove: ["needs-review"], ...(category ? { category } : {}) }),
    );
    setGone((s) => new Set([...s, ...posted.map((r) => r.id)]));
    const keys = new Set(which.map((g) => g.key));
    goTo(groups.slice(at).find((g) => !keys.has(g.key)) ?? groups.find((g) => !keys.has(g.key)));
    const back = () => setGone((s) => new Set([...s].filter((id) => !posted.some((r) => r.id === id))));
    edit.mutate(
      { operations, said },
      {
        onError: back,
        onSuccess: (answers) => setDone((d) => [...d, answers.flatMap((a) => (a.change_id ? [a.change_id] : []))]),
        onSettled: () => void client.invalidateQueries({ queryKey: waiting.queryKey }).then(back),
      },
    );
  };
  const count = (g: Group) => `${g.rows.length} ${g.rows.length === 1 ? "payment" : "payments"} of ${g.name}`;
  const agree = (g: Group) => close([g], `Agreed to ${count(g)}`);
  const file = (c: Choice) => {
    setAnchor(null);
    if (current) close([current], `Filed ${count(current)} under ${c.label}`, c.value);
  };
  const pickFor = (g: Group, el: Element) => {
    choose(g.key);
    setAnchor(el);
  };
  useKeys({
    j: () => goTo(groups[at + 1] ?? current),
    k: () => goTo(groups[at - 1] ?? current),
    ArrowDown: () => goTo(groups[at + 1] ?? current),
    ArrowUp: () => goTo(groups[at - 1] ?? current),
    a: () => current && agree(current),
    e: () => current && agree(current),
    c: () => current && may && setAnchor(body.current?.querySelector("[data-current] [data-chip]") ?? null),
    s: () => {
      if (!current) return;
      setLater((l) => new Set([...l, current.key]));
      goTo(groups[at + 1] ?? groups[at - 1]);
    },
    z: () => {
      const last = done.at(-1);
      if (!last) return;
      setDone((d) => d.slice(0, -1));
      void undo(client, last);
    },
  });

  const part = (title: string, which: Group[], all: boolean) =>
    which.length > 0 && (
      <>
        <header className={css.head}>
          <h2>{title}</h2>
          <span className="small dim">
            {which.length} {which.length === 1 ? "payee" : "payees"}, {which.reduce((n, g) => n + g.rows.length, 0)}{" "}
            payments
          </span>
          {all && may && (
            <span className="end">
              <Button
                icon="check"
                onClick={() => close(which, `Agreed to ${which.reduce((n, g) => n + g.rows.length, 0)} payments`)}
              >
                Agree to all {which.reduce((n, g) => n + g.rows.length, 0)}
              </Button>
            </span>
          )}
        </header>
        <ul>
          {which.map((g) => (
            <GroupLine
              key={g.key}
              group={g}
              current={g === current}
              writes={may}
              onChoose={() => choose(g.key)}
              onAgree={() => agree(g)}
              onFile={(el) => pickFor(g, el)}
            />
          ))}
        </ul>
      </>
    );

  return (
    <>
      <Top
        title="Review"
        sub={total !== undefined && total > 0 ? `${total.toLocaleString("en")} to review` : undefined}
      />
      <div className={css.page}>
        <div ref={body}>
          {list.error && <Fault error={list.error} what="The inbox" retry={() => void list.refetch()} />}
          <Card flush>
            {!list.data && !list.error && <Bones rows={10} />}
            {list.data && groups.length === 0 && (
              <Empty
                title={later.size ? "The rest is left for later" : "Nothing to review"}
                action={later.size > 0 && <Button onClick={() => setLater(new Set())}>Show what I left</Button>}
              >
                {later.size
                  ? "It stays in the inbox."
                  : "New payments come here with the next sync of a bank or the next import."}
              </Empty>
            )}
            {part("Sure", sure, true)}
            {part("Needs a look", look, false)}
            {list.hasNextPage && (
              <div className={css.more}>
                <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                  Load older ones
                </Button>
                <span className="small dim">
                  {rows.length.toLocaleString("en")} newest of {total?.toLocaleString("en")} are shown
                </span>
              </div>
            )}
          </Card>
        </div>
        <Side group={current} />
      </div>
      <PickerAt label="File under" choices={choices} anchor={anchor} onPick={file} onClose={() => setAnchor(null)} />
    </>
  );
}
