import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { session } from "#/api/session";
import { maxSelected, type Row } from "#/api/transactions";
import { useKeys } from "#/lib/keys";
import { useEventCallback } from "#/lib/useEventCallback";
import { AddPayment } from "#/parts/AddPayment";
import { useCategories } from "#/parts/categories";
import { useEdit } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { PageHeader } from "#/parts/PageHeader";
import { LookOnly } from "#/parts/rights";
import { Button } from "#/ui/Button";
import { Empty, Skeleton } from "#/ui/Card";
import { Guarded } from "#/ui/Guard";
import { toasts } from "#/ui/toasts";
import { allSumsOf, sumsOf, sumsOfRows } from "./added";
import type { BulkChange } from "./bulkChange";
import { FilterBar } from "./FilterBar";
import { bare, filtersOf } from "./filters";
import list from "./List.module.css";
import { type Asking, Pickers, type What } from "./Pickers";
import { Rows } from "./Rows";
import { Saving } from "./Saving";
import { SumLine } from "./Sums";
import css from "./TransactionsPage.module.css";
import { type Month, monthAt, step } from "./timeline";
import { useChosen } from "./useChosen";
import { useList } from "./useList";
import { useTrial } from "./useTrial";
import { useView } from "./useView";

// The list does not need the details panel, so it loads when someone opens a transaction.
const Details = lazy(() => import("./Details").then((m) => ({ default: m.Details })));
// The actions for many transactions load when some are selected.
const BulkBar = lazy(() => import("./lazy").then((m) => ({ default: m.BulkBar })));
const TrialStrip = lazy(() => import("./lazy").then((m) => ({ default: m.TrialStrip })));

export function TransactionsPage() {
  const search = useSearch({ from: "/transactions" });
  const go = useNavigate({ from: "/transactions" });
  const { open } = search;
  const key = JSON.stringify(bare(search));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same filters are the same list, whatever row is open
  const filters = useMemo(() => filtersOf(search), [key]);
  const canvas = useRef<HTMLDivElement>(null);
  const { line, view, row, counted, stale, error, again } = useList(filters, canvas);
  const views = useView(search);
  const sums = useMemo(() => sumsOf(line), [line]);
  const may = useQuery(session).data?.can.write === true;
  const { look, name } = useCategories();
  const edit = useEdit();
  const [current, setCurrent] = useState(1);
  const [asking, setAsking] = useState<Asking | null>(null);
  const [choosing, setChoosing] = useState(false);
  const chosen = useChosen(row);
  const trial = useTrial(chosen.clear);
  // These functions keep their identity, so that unchanged components are not rendered again.
  const choose = useEventCallback((i: number, upTo: boolean) => (upTo ? chosen.upTo(i) : chosen.toggle(i)));
  const fileHere = useEventCallback((at: Element, i: number, r: Row) => {
    chosen.clear();
    setCurrent(i);
    const what = "category";
    setAsking({ what, at, shown: new Map([[r.id, r.category]]) });
  });
  const askNothing = useEventCallback(() => setAsking(null));

  // Keyboard navigation continues from the open row. After a reload, the address is known before its row has loaded.
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
  const openIt = useEventCallback(show);
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
  const applyChange = useEventCallback((d: BulkChange, shown: Asking["shown"]) => {
    if (chosen.all) return void trial.start({ filter: filters, set: d.set }, d);
    if (chosen.ids.size > maxSelected)
      return toasts.say({
        bad: true,
        text: t`You can select up to ${{ count: i18n.number(maxSelected) }}. Use “Select all” instead.`,
      });
    if (chosen.ids.size) return void trial.start({ transaction_ids: [...chosen.ids.keys()], set: d.set }, d);
    const r = row(current);
    if (!r) return;
    const { category } = d.set;
    edit.mutate({
      operations: [{ transaction_id: r.id, ...d.set }],
      text: d.text(1),
      ...(category && {
        shown,
        paint: (x) => ({ ...x, category, category_display_name: name(category), category_source: "user" }),
      }),
    });
  });
  const ask = (what: What, at?: Element | null) => {
    const el = at ?? canvas.current?.querySelector(`[data-index="${current}"] [data-file]`) ?? canvas.current;
    const r = row(current);
    if (!may || !el || !(chosen.some || r)) return;
    setAsking({ what, at: el, shown: r && !chosen.some ? new Map([[r.id, r.category]]) : undefined });
  };
  useKeys({
    j: () => goTo(step(line, current, 1)),
    k: () => goTo(step(line, current, -1)),
    ArrowDown: () => goTo(step(line, current, 1)),
    ArrowUp: () => goTo(step(line, current, -1)),
    "[": () => month(1),
    "]": () => month(-1),
    x: () => may && chosen.toggle(current),
    X: () => may && chosen.upTo(current),
    "Mod a": () => may && chosen.everything(),
    // While a transaction is open, its panel handles these keys.
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
        <PageHeader title={t`Transactions`}>
          {may && (
            <>
              <Button
                icon="upload"
                aria-label={t`Import statement`}
                title={t`Import statement`}
                onClick={() => void go({ to: "/import", search: {} })}
              >
                <span className={css.wide}>
                  <Trans>Import</Trans>
                </span>
              </Button>
              <span className="desk">
                <AddPayment />
              </span>
            </>
          )}
        </PageHeader>
        <FilterBar
          search={search}
          count={line.rows}
          views={views}
          choosing={choosing}
          onChoosing={may ? setChoosing : null}
        />
        <div className={css.why}>
          <LookOnly />
        </div>
        {counted && (
          <SumLine count={line.rows} uncounted={line.uncounted} sums={sums}>
            <Saving search={search} views={views} />
          </SumLine>
        )}
        {error && <Fault error={error} what={t`the transactions`} retry={again} />}
        <div
          ref={canvas}
          className={`${list.canvas} ${counted ? list.summed : ""} ${open ? list.panelled : ""} ${choosing ? list.choosing : ""} ${css.canvas}`}
          style={{ height: line.size ? view.top(line.size) + 2 : undefined }}
          role="table"
          aria-label={t`Transactions by month`}
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
          {!counted && !error && <Skeleton rows={14} />}
          {counted && line.rows === 0 && (
            <Empty title={key === "{}" ? t`No transactions yet` : t`No matching transactions`}>
              {key === "{}"
                ? t`Connect a bank or import a statement to get started.`
                : t`Try removing a filter or changing your search.`}
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
                sums={chosen.all ? allSumsOf(line) : sumsOfRows(chosen.ids.values())}
                days={chosen.all ? [] : [...chosen.ids.values()].map((r) => r.date)}
                more={chosen.all ? null : line.rows}
                onAll={chosen.everything}
                onAsk={ask}
                onClear={chosen.clear}
              />
            )
          )}
        </Suspense>
      </div>
      {(open || choosing || chosen.some) && <span hidden data-full />}
      {open && (
        <Guarded>
          <Suspense>
            <Details
              key={open}
              id={open}
              writes={may}
              onClose={() => show(undefined)}
              onStep={(by) => goTo(step(line, current, by))}
            />
          </Suspense>
        </Guarded>
      )}
      <Pickers asking={asking} onClose={askNothing} onChange={applyChange} />
    </div>
  );
}
