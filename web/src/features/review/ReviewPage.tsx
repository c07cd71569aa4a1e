import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { ApiError } from "#/api/client";
import { reviewGroups } from "#/api/review";
import { session } from "#/api/session";
import { useKeys } from "#/lib/keys";
import { useSteady } from "#/lib/steady";
import { payments } from "#/lib/words";
import { useCategories } from "#/parts/categories";
import { deeds } from "#/parts/deeds";
import { sorry, useBulk, useUndoKeys } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { LookOnly } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Card } from "#/ui/Card";
import { type Choice, PickerAt } from "#/ui/Picker";
import { toasts } from "#/ui/toasts";
import { Done } from "./Done";
import { GroupLine } from "./GroupLine";
import { closing, type Group, inOrder, likely } from "./groups";
import css from "./ReviewPage.module.css";
import { Side } from "./Side";

const most = 20; // payees of a part that are drawn before the others

const number = (groups: Group[]) => groups.reduce((n, g) => n + g.ready, 0);

export function ReviewPage() {
  const client = useQueryClient();
  const go = useNavigate();
  const list = useInfiniteQuery(reviewGroups);
  const may = useQuery(session).data?.can.write === true;
  const { choices, name } = useCategories();
  const bulk = useBulk();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [later, setLater] = useState<ReadonlySet<string>>(new Set());
  const [chosen, choose] = useState<string | null>(null);
  const [anchor, setAnchor] = useState<Element | null>(null);
  const [changes, setChanges] = useState<{ id: string; payments: number }[]>([]);
  const [picked, setPicked] = useState<string[]>([]);
  /** Takes the last step back, if that was to leave a payee for later. */
  const lately = useRef<(() => void) | null>(null);
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
  // What was undone since is not done. Every undo asks for the inbox again, so this is counted again then.
  const closed = changes.reduce((n, c) => n + (deeds.stands(c.id) ? c.payments : 0), 0);
  const at = Math.max(
    0,
    groups.findIndex((g) => g.key === chosen),
  );
  const current = groups[at];

  const goTo = (g: Group | undefined) => {
    choose(g?.key ?? null);
    if (g) body.current?.querySelector(`[data-key="${CSS.escape(g.key)}"]`)?.scrollIntoView({ block: "nearest" });
  };
  /** Closes groups one after the other, each as one change; they leave the list at once. */
  const close = async (which: Group[], said: (g: Group) => string, category?: string) => {
    if (!may) return;
    lately.current = null;
    const keys = new Set(which.map((g) => g.key));
    setGone((s) => new Set([...s, ...keys]));
    goTo(groups.slice(at).find((g) => !keys.has(g.key)) ?? groups.findLast((g) => !keys.has(g.key)));
    for (const g of which)
      try {
        const r = await bulk.mutateAsync({ body: closing(g, category), said: said(g) });
        const id = r.change_id;
        if (id) setChanges((c) => [...c, { id, payments: r.matched }]);
      } catch (e) {
        if (e instanceof ApiError && e.code === "CONFLICT")
          toasts.say({ bad: true, text: `${g.payee_name} has other payments now. Look again.` });
        else if (!(e instanceof ApiError)) sorry(e);
      }
    await client.invalidateQueries({ queryKey: ["review"] });
    if (client.isMutating() === 0) setGone(new Set());
  };
  const count = (g: Group) => `${payments(g.ready)} of ${g.payee_name}`;
  const agree = (g: Group, el?: Element | null) => {
    if (g.open) return setAnchor(el ?? body.current?.querySelector("[data-current] [data-chip]") ?? null);
    void close([g], (x) => `Agreed to ${count(x)}`);
  };
  const file = (g: Group, category: string) => {
    setPicked((p) => [category, ...p.filter((c) => c !== category)].slice(0, 6));
    void close([g], (x) => `Filed ${count(x)} under ${name(category)}`, category);
  };
  const pickFor = (g: Group, el: Element) => {
    choose(g.key);
    setAnchor(el);
  };
  const leave = (g: Group) => {
    setLater((l) => new Set([...l, g.key]));
    goTo(groups[at + 1] ?? groups[at - 1]);
    const back = () => {
      lately.current = null;
      toasts.dropOf([g.key]);
      setLater((l) => new Set([...l].filter((k) => k !== g.key)));
      choose(g.key);
    };
    lately.current = back;
    toasts.say({ text: `Left for later: ${count(g)}`, undo: back, of: [g.key] });
  };
  const showLeft = () => {
    lately.current = null;
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
    z: () => (lately.current ?? undoing.z)(),
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
  // What this payee could be stands first, then what others are filed under, so that fewer letters are typed.
  const near = [current?.files?.category, ...(current?.others ?? []), ...picked, ...often];
  const place = (c: Choice) => near.indexOf(c.value) >>> 0; // what is not among them goes last
  const sorted = choices.toSorted((a, b) => place(a) - place(b));

  // The payees in view stand first; those below follow when nothing more urgent waits.
  const drawAll = useDeferredValue(list.data !== undefined, false);
  const acts = {
    onChoose: useSteady((g: Group) => choose(g.key)),
    onAgree: useSteady((g: Group) => agree(g)),
    onFile: useSteady(pickFor),
    onOther: useSteady(file),
    onRule: useSteady(makeRule),
  };
  const part = (title: string, which: Group[], agreeable: boolean) =>
    which.length > 0 && (
      <>
        <header className={css.head}>
          <h2>{title}</h2>
          <span className="small dim">
            {which.length} {which.length === 1 ? "payee" : "payees"}, {payments(which.reduce((n, g) => n + g.count, 0))}
          </span>
          {agreeable && may && (
            <span className="end">
              <Button icon="check" onClick={() => void close(which, (g) => `Agreed to ${count(g)}`)}>
                Agree to all {number(which)}
              </Button>
            </span>
          )}
        </header>
        <ul>
          {which.slice(0, drawAll ? undefined : most).map((g) => (
            <GroupLine key={g.key} group={g} current={g === current} writes={may} {...acts} />
          ))}
        </ul>
      </>
    );

  const aside = left.length ? `, ${number(left).toLocaleString("en")} of them left for later` : "";
  const sub = total ? `${total.toLocaleString("en")} to review${aside}` : undefined;
  return (
    <>
      <Top title="Review" sub={sub} />
      <div className={css.page}>
        <div ref={body}>
          <LookOnly />
          {list.error && <Fault error={list.error} what="The inbox" retry={() => void list.refetch()} />}
          <Card flush>
            {!list.data && !list.error && <Bones rows={10} />}
            {list.data && groups.length === 0 && <Done left={left.length} onShow={showLeft} />}
            {part(
              "Sure",
              groups.filter((g) => g.sure),
              true,
            )}
            {part(
              "Needs a look",
              groups.filter((g) => !g.sure),
              false,
            )}
            {part("Pending until the bank books them", pending, false)}
            {left.length > 0 && groups.length > 0 && (
              <p className={css.more}>
                <span className="small dim">
                  {left.length} left for later, {payments(number(left))}
                </span>
                <Button kind="quiet" onClick={showLeft}>
                  Show
                </Button>
              </p>
            )}
            {list.hasNextPage && (
              <div className={css.more}>
                <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                  Load more payees
                </Button>
                <span className="small dim">
                  {all.length.toLocaleString("en")} of {waiting?.total_groups.toLocaleString("en")} payees are shown
                </span>
              </div>
            )}
          </Card>
        </div>
        <Side group={current} closed={closed} left={total ?? 0} />
      </div>
      <PickerAt
        label="File under"
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
