import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useNavigate } from "@tanstack/react-router";
import { lazy, memo, Suspense, useEffect, useRef, useState } from "react";
import type { TransactionsSearch } from "#/lib/address";
import { useKeys } from "#/lib/keys";
import { opening } from "#/parts/views";
import { Button } from "#/ui/Button";
import { Search } from "#/ui/Field";
import { Icon } from "#/ui/Icon";
import { FilterChip, PickerButton, Toggle } from "#/ui/Picker";
import { controls } from "./Controls";
import { chipsOf } from "./chips";
import css from "./TransactionsPage.module.css";
import { useNames } from "./useNames";
import type { useView } from "./useView";

const FilterSheet = lazy(() => import("./lazy").then((m) => ({ default: m.FilterSheet })));

const patience = 180; // milliseconds to wait for further letters

/** The filters of the list. They are all in the address, so that people can bookmark it, share it and go back to it. */
export const FilterBar = memo(function FilterBar({
  search,
  count,
  views,
  choosing,
  onChoosing,
}: {
  search: TransactionsSearch;
  /** How many transactions match. */
  count: number;
  views: ReturnType<typeof useView>;
  choosing: boolean;
  /** Switches the boxes of the rows on and off, for phones, where rows have no boxes at first. */
  onChoosing: ((on: boolean) => void) | null;
}) {
  const go = useNavigate({ from: "/transactions" });
  const known = useNames(search);
  const [typed, setTyped] = useState(search.search ?? "");
  const [sheet, setSheet] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // Each filter adds a step to the browser's history. Typed searches do not, because each letter would be a step.
  const set = (change: TransactionsSearch) => void go({ search: (s) => ({ ...s, ...change }), resetScroll: false });
  useEffect(() => setTyped(search.search ?? ""), [search.search]);
  useEffect(() => {
    if (typed === (search.search ?? "")) return;
    const timer = setTimeout(
      () => void go({ search: (s) => ({ ...s, search: typed || undefined }), replace: true }),
      patience,
    );
    return () => clearTimeout(timer);
  }, [typed, search.search, go]);
  const { view, all: saved, choices, left, narrowed } = views;
  const clear = () => void go({ search: { open: search.open } });
  useKeys({ "/": () => field.current?.focus() });
  const unknown = left.join(", ");
  const chips = chipsOf(search, known.names);
  const rows = controls({ search, known, set });
  const saves = choices.length > 0 && (
    <PickerButton
      label={t`Views`}
      choices={choices}
      value={view?.id}
      onPick={(c) => {
        const v = saved.find((x) => x.id === c.value);
        if (v) void go({ search: { ...opening(v), open: search.open } });
      }}
      onClear={clear}
    >
      <Trans>Views</Trans>
    </PickerButton>
  );
  return (
    <>
      <div className={css.filters}>
        <Search
          label={t`Search transactions`}
          keyed="/"
          ref={field}
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
        />
        <div className={css.controls}>
          {rows.map((r) => (
            <span key={r.name}>{r.control}</span>
          ))}
          {saves}
        </div>
      </div>
      <div className={css.chips}>
        <div className={css.small}>
          <button
            type="button"
            className={`${css.all} ${chips.length ? css.some : ""}`}
            aria-haspopup="dialog"
            onClick={() => setSheet(true)}
          >
            <Icon name="filter" small />
            {chips.length ? t`Filters ${{ count: chips.length }}` : t`Filters`}
          </button>
          {onChoosing && (
            <Toggle on={choosing} onChange={onChoosing}>
              <Trans>Select</Trans>
            </Toggle>
          )}
          {saves}
        </div>
        {chips.map((c) => (
          <FilterChip
            key={c.kind + c.key}
            kind={c.kind}
            label={t`Remove filter ${{ kind: c.kind }} ${{ value: c.label }}`}
            onRemove={() => set(c.off)}
          >
            {c.label}
          </FilterChip>
        ))}
        {narrowed && (
          <Button kind="quiet" onClick={clear}>
            <Trans>Clear filters</Trans>
          </Button>
        )}
      </div>
      {view && left.length > 0 && (
        <div className={css.why}>
          <p className="small dim">
            <Trans>This view also filters by {unknown}, which isn’t available here, so the list may show more.</Trans>
          </p>
        </div>
      )}
      {sheet && (
        <Suspense>
          <FilterSheet
            rows={rows}
            chips={chips}
            count={count}
            onRemove={(c) => set(c.off)}
            onClear={clear}
            onClose={() => setSheet(false)}
          />
        </Suspense>
      )}
    </>
  );
});
