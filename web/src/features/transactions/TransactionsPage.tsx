import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { session, writes } from "#/api/session";
import { useKeys } from "#/lib/keys";
import { useCategories } from "#/parts/categories";
import { useEdit } from "#/parts/edit";
import { Fault } from "#/parts/Fault";
import { Top } from "#/parts/Top";
import { Button } from "#/ui/Button";
import { Bones, Empty } from "#/ui/Card";
import { type Choice, PickerAt } from "#/ui/Picker";
import { Details } from "./Details";
import { FilterBar } from "./FilterBar";
import { filtersOf } from "./filters";
import { BoneLine, Line, MonthLine } from "./Line";
import list from "./List.module.css";
import css from "./TransactionsPage.module.css";
import { monthAt, step } from "./timeline";
import { useList } from "./useList";

export function TransactionsPage() {
  const search = useSearch({ from: "/transactions" });
  const go = useNavigate({ from: "/transactions" });
  const { open, ...rest } = search;
  const key = JSON.stringify(rest);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same filters are the same list, whatever row is open
  const filters = useMemo(() => filtersOf(search), [key]);
  const canvas = useRef<HTMLDivElement>(null);
  const { line, virtual, above, row, counted, stale, error, again } = useList(filters, canvas);
  const may = writes(useQuery(session).data?.user?.role);
  const { choices, look } = useCategories();
  const edit = useEdit();
  const [current, setCurrent] = useState(0);
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const [anchor, setAnchor] = useState<Element | null>(null);

  const show = (id: string | undefined) => void go({ search: (s) => ({ ...s, open: id }), resetScroll: false });
  const move = (by: 1 | -1) => {
    const to = step(line, current, by);
    setCurrent(to);
    virtual.scrollToIndex(to, { align: "auto" });
    if (open) show(row(to)?.short_id);
  };
  const toggle = (id: string) =>
    choose((s) => (s.has(id) ? new Set([...s].filter((x) => x !== id)) : new Set([...s, id])));
  const file = (c: Choice) => {
    const here = row(current)?.id;
    const ids = chosen.size ? [...chosen] : here ? [here] : [];
    setAnchor(null);
    choose(new Set());
    if (ids.length)
      edit.mutate({
        operations: ids.map((transaction_id) => ({ transaction_id, category: c.value })),
        said: `${ids.length === 1 ? "Filed" : `Filed ${ids.length}`} under ${c.label}`,
        paint: (r) => ({ ...r, category: c.value, category_display_name: c.label, category_source: "user" }),
      });
  };
  const fileHere = (at: Element, index: number) => {
    setCurrent(index);
    setAnchor(at);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    x: () => {
      const r = row(current);
      if (r && may) toggle(r.id);
    },
    c: () => may && setAnchor(canvas.current?.querySelector(`[data-index="${current}"] [data-file]`) ?? null),
    Enter: () => show(row(current)?.short_id),
    Escape: () => (open ? show(undefined) : choose(new Set())),
  });

  return (
    <div className={open ? css.split : undefined}>
      <div className={css.left}>
        <Top title="Transactions" sub={counted && `${line.rows.toLocaleString("en")}${stale ? " …" : ""}`}>
          {chosen.size > 0 && (
            <Button kind="filled" icon="tag" onClick={(e) => setAnchor(e.currentTarget)}>
              File {chosen.size} under…
            </Button>
          )}
        </Top>
        <FilterBar search={search} />
        {error && <Fault error={error} what="The transactions" retry={again} />}
        <div
          ref={canvas}
          className={`${list.canvas} ${open ? list.panelled : ""} ${css.canvas}`}
          style={{ height: line.size ? virtual.getTotalSize() + 2 : undefined }}
          role="table"
          aria-label="Transactions by month"
          aria-rowcount={line.size}
        >
          {virtual.getVirtualItems().map((v) => {
            const top = v.start - above;
            const month = monthAt(line, v.index);
            if (!month) return null;
            if (month.start === v.index) return <MonthLine key={v.key} month={month} top={top} />;
            const r = row(v.index);
            if (!r) return <BoneLine key={v.key} top={top} />;
            return (
              <Line
                key={v.key}
                row={r}
                index={v.index}
                top={top}
                look={look(r.category)}
                newDay={row(v.index - 1)?.date !== r.date}
                current={v.index === current}
                open={open === r.short_id}
                chosen={chosen.has(r.id)}
                writes={may}
                onChoose={toggle}
                onFile={fileHere}
              />
            );
          })}
          {!counted && !error && <Bones rows={14} />}
          {counted && line.rows === 0 && (
            <Empty title={key === "{}" ? "No payments yet" : "Nothing matches"}>
              {key === "{}"
                ? "They appear as soon as a bank is linked or a statement is imported."
                : "Take a filter away, or search with fewer letters."}
            </Empty>
          )}
        </div>
      </div>
      {open && <Details key={open} id={open} writes={may} onClose={() => show(undefined)} onStep={move} />}
      <PickerAt label="File under" choices={choices} anchor={anchor} onPick={file} onClose={() => setAnchor(null)} />
    </div>
  );
}
