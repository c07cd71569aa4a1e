import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import { Plural, Trans } from "@lingui/react/macro";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { ApiError } from "#/api/client";
import { maxPayees, reviewGroups } from "#/api/review";
import { session } from "#/api/session";
import { useKeys } from "#/lib/keys";
import { useEventCallback } from "#/lib/useEventCallback";
import { transactions } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { useBulk, useCloseReviews, useUndoKeys } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly } from "#/parts/rights";
import { undoStack } from "#/parts/undoStack";
import { Button } from "#/ui/Button";
import { Card, Skeleton } from "#/ui/Card";
import { each } from "#/ui/Guard";
import { type Choice, PickerAt } from "#/ui/Picker";
import { toasts } from "#/ui/toasts";
import { number, useSameCount } from "./counts";
import { Done } from "./Done";
import { GroupLine } from "./GroupLine";
import { closing, closingAll, type Group, inOrder, likely, refused } from "./groups";
import css from "./ReviewPage.module.css";
import { Side } from "./Side";
import { approved, approvedAll, categorized, sizeOf, skipped } from "./words";

const limit = 20; // payees of each part that are drawn first

export function ReviewPage() {
  const client = useQueryClient();
  const go = useNavigate();
  const list = useInfiniteQuery(reviewGroups);
  const may = useQuery(session).data?.can.write === true;
  const { choices, name } = useCategories();
  const bulk = useBulk();
  const several = useCloseReviews();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [later, setLater] = useState<ReadonlySet<string>>(new Set());
  const [chosen, choose] = useState<string | null>(null);
  const [anchor, setAnchor] = useState<Element | null>(null);
  const [flying, setFlying] = useState(0); // transactions that are being closed; they count as reviewed
  const [changes, setChanges] = useState<{ id: string; payments: number }[]>([]);
  const [picked, setPicked] = useState<string[]>([]);
  /** Undoes the last step if it skipped a payee; otherwise null. */
  const lastAction = useRef<(() => void) | null>(null);
  const body = useRef<HTMLDivElement>(null);

  const all = useMemo(
    () =>
      inOrder(
        (list.data?.pages ?? []).flatMap((p) => p.groups),
        picked,
      ),
    [list.data, picked],
  );
  const often = useMemo(() => [false, true].flatMap((incoming) => likely(all, incoming)), [all]);
  const groups = all.filter((g) => g.ready > 0 && !gone.has(g.key) && !later.has(g.key));
  const left = all.filter((g) => g.ready > 0 && !gone.has(g.key) && later.has(g.key));
  const pending = all.filter((g) => g.ready === 0);
  const waiting = list.data?.pages[0];
  const total = waiting ? waiting.total - number(all.filter((g) => gone.has(g.key))) : undefined;
  useSameCount(total, list.dataUpdatedAt, gone.size > 0);
  // Undone changes do not count. Every undo reloads the review queue, so that this line runs again.
  const closed = changes.reduce((n, c) => n + (undoStack.stands(c.id) ? c.payments : 0), 0);
  const at = Math.max(
    0,
    groups.findIndex((g) => g.key === chosen),
  );
  const current = groups[at];

  const goTo = (g: Group | undefined) => {
    choose(g?.key ?? null);
    if (g) body.current?.querySelector(`[data-key="${CSS.escape(g.key)}"]`)?.scrollIntoView({ block: "nearest" });
  };
  /** Closes groups as one change. They leave the list and all counts at once. */
  const close = async (which: Group[], write: () => Promise<{ change_id: string | null; matched: number }>) => {
    if (!may) return;
    lastAction.current = null;
    const keys = new Set(which.map((g) => g.key));
    const n = number(which);
    setGone((s) => new Set([...s, ...keys]));
    setFlying((f) => f + n);
    goTo(groups.slice(at).find((g) => !keys.has(g.key)) ?? groups.findLast((g) => !keys.has(g.key)));
    try {
      const { change_id: id, matched } = await write();
      if (id) setChanges((c) => [...c, { id, payments: matched }]);
    } catch (e) {
      if (e instanceof ApiError && e.code === "CONFLICT")
        toasts.say({
          bad: true,
          text: t`The transactions of ${{ payee: refused(which, e.details) }} changed. Check the list again.`,
        });
    }
    setFlying((f) => f - n);
    await client.invalidateQueries({ queryKey: ["review"] });
    if (client.isMutating() === 0) setGone(new Set());
  };
  const agree = (g: Group, el?: Element | null) => {
    if (g.open) return setAnchor(el ?? body.current?.querySelector("[data-current] [data-chip]") ?? null);
    void close([g], () => bulk.mutateAsync({ body: closing(g), text: approved(g.ready, g.payee_name) }));
  };
  const agreeToAll = (which: Group[]) => {
    const [one, ...more] = which;
    if (!one) return;
    const n = number(which);
    const text = more.length ? approvedAll(n, which.length) : approved(n, one.payee_name);
    void close(which, () => several.mutateAsync({ groups: closingAll(which), text }));
  };
  const file = (g: Group, category: string) => {
    setPicked((p) => [category, ...p.filter((c) => c !== category)].slice(0, 6));
    const how = { body: closing(g, category), text: categorized(g.ready, g.payee_name, name(category)) };
    void close([g], () => bulk.mutateAsync(how));
  };
  const pickFor = (g: Group, el: Element) => {
    choose(g.key);
    setAnchor(el);
  };
  const leave = (g: Group) => {
    setLater((l) => new Set([...l, g.key]));
    goTo(groups[at + 1] ?? groups[at - 1]);
    const back = () => {
      lastAction.current = null;
      toasts.dropOf([g.key]);
      setLater((l) => new Set([...l].filter((k) => k !== g.key)));
      choose(g.key);
    };
    lastAction.current = back;
    toasts.say({ text: skipped(g.ready, g.payee_name), undo: back, of: [g.key] });
  };
  const showLeft = () => {
    lastAction.current = null;
    toasts.dropOf([...later]);
    setLater(new Set());
  };
  const makeRule = (g: Group) =>
    void go({ to: "/rules/new", search: { from: g.sample[0]?.short_id, category: g.files?.category } });
  const digits = Object.fromEntries(
    (current?.others ?? []).map((c, i) => [`${i + 1}`, () => current && file(current, c)]),
  );
  const undoing = useUndoKeys();
  useKeys({
    ...undoing,
    z: () => (lastAction.current ?? undoing.z)(),
    ...(may && digits),
    j: () => goTo(groups[at + 1] ?? current),
    k: () => goTo(groups[at - 1] ?? current),
    ArrowDown: () => goTo(groups[at + 1] ?? current),
    ArrowUp: () => goTo(groups[at - 1] ?? current),
    a: () => current && may && agree(current),
    e: () => current && may && agree(current),
    c: () => current && may && setAnchor(body.current?.querySelector("[data-current] [data-chip]") ?? null),
    r: () => current && may && makeRule(current),
    s: () => current && leave(current),
  });
  // Likely categories of this payee come first, then likely ones of others, so that a few letters find them.
  const near = [current?.files?.category, ...(current?.others ?? []), ...picked, ...often];
  const place = (c: Choice) => near.indexOf(c.value) >>> 0; // >>> turns -1 into a large number, so the others go last
  const sorted = choices.toSorted((a, b) => place(a) - place(b));

  // The payees in view are drawn first. The rest follows when the browser has nothing more urgent to do.
  const drawAll = useDeferredValue(list.data !== undefined, false);
  const acts = {
    onChoose: useEventCallback((g: Group) => choose(g.key)),
    onAgree: useEventCallback((g: Group) => agree(g)),
    onFile: useEventCallback(pickFor),
    onOther: useEventCallback(file),
    onRule: useEventCallback(makeRule),
  };
  const part = (title: string, which: Group[], agreeable: boolean) => {
    const together = which.slice(0, maxPayees);
    return (
      which.length > 0 && (
        <>
          <header className={css.head}>
            <h2>{title}</h2>
            {(agreeable || !list.hasNextPage) && <span className="small dim">{sizeOf(which)}</span>}
            {agreeable && may && (
              <span className="end">
                <Button icon="check" onClick={() => agreeToAll(together)}>
                  <Plural value={number(together)} one="Approve #" other="Approve all #" />
                </Button>
              </span>
            )}
          </header>
          <ul>
            {which.slice(0, drawAll ? undefined : limit).map((g) => (
              <GroupLine key={g.key} group={g} current={g === current} writes={may} {...acts} />
            ))}
          </ul>
        </>
      )
    );
  };

  const shown = i18n.number(all.length);
  const sub = [
    total ? plural(total, { one: "# to review", other: "# to review" }) : "",
    total && left.length ? plural(number(left), { one: "# skipped", other: "# skipped" }) : "",
  ];
  return (
    <>
      <PageHeader title={t`Review`} sub={sub.filter(Boolean).join(", ") || undefined} />
      <div className={css.page}>
        <div ref={body}>
          <LookOnly />
          {list.error && <Fault error={list.error} what={t`the review queue`} retry={() => void list.refetch()} />}
          <Card flush>
            {!list.data && !list.error && <Skeleton rows={10} />}
            {list.data && groups.length === 0 && <Done left={left.length} onShow={showLeft} />}
            {part(
              t`Ready to approve`,
              groups.filter((g) => g.sure),
              true,
            )}
            {part(
              t`Needs your input`,
              groups.filter((g) => !g.sure && !g.small),
              false,
            )}
            {part(
              t`One or two transactions`,
              groups.filter((g) => g.small),
              true,
            )}
            {part(t`Pending`, pending, false)}
            {left.length > 0 && groups.length > 0 && (
              <p className={css.more}>
                <span className="small dim">
                  <Plural value={left.length} one="# payee skipped" other="# payees skipped" />,{" "}
                  {transactions(number(left))}
                </span>
                <Button kind="quiet" onClick={showLeft}>
                  <Trans>Show</Trans>
                </Button>
              </p>
            )}
            {list.hasNextPage && (
              <div className={css.more}>
                <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                  <Trans>Load more</Trans>
                </Button>
                <span className="small dim">
                  <Trans>
                    Showing {shown} of <Plural value={waiting?.total_groups ?? 0} one="# payee" other="# payees" />
                  </Trans>
                </span>
              </div>
            )}
          </Card>
        </div>
        {each(<Side group={current} closed={closed + flying} left={total ?? 0} />)}
      </div>
      <PickerAt
        label={t`Choose category`}
        choices={sorted}
        anchor={anchor}
        onPick={(c: Choice) => {
          setAnchor(null);
          if (current) file(current, c.value);
        }}
        onClose={() => setAnchor(null)}
      />
    </>
  );
}
