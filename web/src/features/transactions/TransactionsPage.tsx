import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { session } from "#/api/session";
import { mostChosen, type Row } from "#/api/transactions";
import { useKeys } from "#/lib/keys";
import { useSteady } from "#/lib/steady";
import { AddPayment } from "#/parts/AddPayment";
import { useCategories } from "#/parts/categories";
import { useEdit, useUndoKeys } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { LookOnly } from "#/parts/rights";
import { Top } from "#/parts/Top";
import { Bones, Empty } from "#/ui/Card";
import { toasts } from "#/ui/toasts";
import type { Deed } from "./deed";
import { FilterBar } from "./FilterBar";
import { bare, filtersOf } from "./filters";
import list from "./List.module.css";
import { type Asking, Pickers, type What } from "./Pickers";
import { Rows } from "./Rows";
import css from "./TransactionsPage.module.css";
import { type Month, monthAt, step } from "./timeline";
import { useChosen } from "./useChosen";
import { useList } from "./useList";
import { useTrial } from "./useTrial";

// The list stands without it, so the panel is loaded when somebody opens a payment.
const Details = lazy(() => import("./Details").then((m) => ({ default: m.Details })));
// Likewise what can be done with many, when some are chosen.
const BulkBar = lazy(() => import("./BulkBar").then((m) => ({ default: m.BulkBar })));
const TrialStrip = lazy(() => import("./BulkBar").then((m) => ({ default: m.TrialStrip })));

export function TransactionsPage() {
  const search = useSearch({ from: "/transactions" });
  const go = useNavigate({ from: "/transactions" });
  const { open } = search;
  const key = JSON.stringify(bare(search));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same filters are the same list, whatever row is open
  const filters = useMemo(() => filtersOf(search), [key]);
  const canvas = useRef<HTMLDivElement>(null);
  const { line, view, row, counted, stale, error, again } = useList(filters, canvas);
  const may = useQuery(session).data?.can.write === true;
  const { look, name } = useCategories();
  const edit = useEdit();
  const [current, setCurrent] = useState(1);
  const [asking, setAsking] = useState<Asking | null>(null);
  const [choosing, setChoosing] = useState(false);
  const chosen = useChosen(row);
  const trial = useTrial(chosen.clear);
  // What is drawn again only if it changed is given the same functions every time.
  const choose = useSteady((i: number, upTo: boolean) => (upTo ? chosen.upTo(i) : chosen.toggle(i)));
  const fileHere = useSteady((at: Element, i: number, r: Row) => {
    chosen.clear();
    setCurrent(i);
    setAsking({ what: "category", at, seen: new Map([[r.id, r.category]]) });
  });
  const askNothing = useSteady(() => setAsking(null));

  // Whoever opens a row goes on from there; after a reload its row comes later than the address.
  const isOpen = (r: Row | undefined) => open !== undefined && (r?.short_id === open || r?.id === open);
  const found = useRef<string>(undefined);
  useEffect(() => {
    if (found.current === open) return;
    const [from, to] = view.drawn;
    let at = from;
    while (at < to && !isOpen(row(at))) at++;
    if (at < to) setCurrent(at);
    if (at < to || !open) found.current = open;
  });
  const router = useRouter();
  const address = useMemo(() => {
    const { open: _, ...rest } = search;
    return router.buildLocation({ to: "/transactions", search: { ...rest, open: "-" } }).href.slice(0, -1);
  }, [router, search]);
  const show = (id: string | undefined) => void go({ search: (s) => ({ ...s, open: id }), resetScroll: false });
  const openIt = useSteady(show);
  const goTo = (index: number) => {
    setCurrent(index);
    view.bring(index);
    if (open) show(row(index)?.short_id);
  };
  const month = (by: 1 | -1) => {
    const at = line.months.indexOf(monthAt(line, current) as Month);
    const to = line.months[at + by];
    if (to) goTo(to.start + 1);
  };
  const does = useSteady((d: Deed, seen: Asking["seen"]) => {
    if (chosen.all) return void trial.start({ filter: filters, set: d.set }, d);
    if (chosen.ids.size > mostChosen)
      return toasts.say({ bad: true, text: `More than ${mostChosen} are chosen. Choose all that match, or fewer.` });
    if (chosen.ids.size) return void trial.start({ transaction_ids: [...chosen.ids], set: d.set }, d);
    const r = row(current);
    if (!r) return;
    const { category } = d.set;
    edit.mutate({
      operations: [{ transaction_id: r.id, ...d.set }],
      said: d.said(1),
      ...(category && {
        seen,
        paint: (x) => ({ ...x, category, category_display_name: name(category), category_source: "user" }),
      }),
    });
  });
  const ask = (what: What, at?: Element | null) => {
    const el = at ?? canvas.current?.querySelector(`[data-index="${current}"] [data-file]`) ?? canvas.current;
    const r = row(current);
    if (!may || !el || !(chosen.some || r)) return;
    setAsking({ what, at: el, seen: r && !chosen.some ? new Map([[r.id, r.category]]) : undefined });
  };
  useKeys({
    ...useUndoKeys(),
    j: () => goTo(step(line, current, 1)),
    k: () => goTo(step(line, current, -1)),
    ArrowDown: () => goTo(step(line, current, 1)),
    ArrowUp: () => goTo(step(line, current, -1)),
    "[": () => month(1),
    "]": () => month(-1),
    x: () => may && chosen.toggle(current),
    X: () => may && chosen.upTo(current),
    "Mod a": () => may && chosen.everything(),
    // While one payment is open, its panel has these.
    ...((!open || chosen.some) && {
      c: () => ask("category"),
      t: () => ask("tag"),
      m: () => ask("comment"),
      p: () => ask("payee"),
    }),
    r: () => {
      const from = open ?? row(current)?.short_id;
      if (may && from) void go({ to: "/rules/new", search: { from } });
    },
    y: () => show(row(current)?.short_id),
    Enter: () => show(row(current)?.short_id),
    Escape: () => {
      if (trial.trial) trial.stop();
      else if (open) show(undefined);
      else chosen.clear();
    },
  });

  return (
    <div className={open ? css.split : undefined}>
      <div className={css.left}>
        <Top title="Transactions" sub={counted && `${line.rows.toLocaleString("en")}${stale ? " …" : ""}`}>
          {may && <AddPayment />}
        </Top>
        <FilterBar search={search} choosing={choosing} onChoosing={may ? setChoosing : null} />
        <div className={css.why}>
          <LookOnly />
        </div>
        {error && <Fault error={error} what="The transactions" retry={again} />}
        <div
          ref={canvas}
          className={`${list.canvas} ${open ? list.panelled : ""} ${choosing ? list.choosing : ""} ${css.canvas}`}
          style={{ height: line.size ? view.top(line.size) + 2 : undefined }}
          role="table"
          aria-label="Transactions by month"
          aria-rowcount={line.size}
          aria-busy={stale || undefined}
        >
          <Rows
            line={line}
            view={view}
            row={row}
            look={look}
            current={open ? -1 : current}
            isOpen={isOpen}
            isChosen={chosen.has}
            writes={may}
            onChoose={choose}
            onFile={fileHere}
            address={address}
            onOpen={openIt}
          />
          {!counted && !error && <Bones rows={14} />}
          {counted && line.rows === 0 && (
            <Empty title={key === "{}" ? "No payments yet" : "Nothing matches"}>
              {key === "{}"
                ? "They appear as soon as a bank is linked or a statement is imported."
                : "Take a filter away, or search with fewer letters."}
            </Empty>
          )}
        </div>
        <Suspense>
          {trial.trial ? (
            <TrialStrip
              trial={trial.trial}
              busy={trial.busy}
              onYes={() => void trial.confirm()}
              onSpare={() => void trial.spare()}
              onNo={trial.stop}
            />
          ) : (
            chosen.some && (
              <BulkBar
                count={chosen.all ? line.rows : chosen.ids.size}
                more={chosen.all ? null : line.rows}
                onAll={chosen.everything}
                onAsk={ask}
                onClear={chosen.clear}
              />
            )
          )}
        </Suspense>
      </div>
      {open && (
        <Suspense>
          <Details
            key={open}
            id={open}
            writes={may}
            onClose={() => show(undefined)}
            onStep={(by) => goTo(step(line, current, by))}
          />
        </Suspense>
      )}
      <Pickers asking={asking} onClose={askNothing} onDeed={does} />
    </div>
  );
}
