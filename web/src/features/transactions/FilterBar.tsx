import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, memo, Suspense, useEffect, useRef, useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import { exportOf } from "#/api/transactions";
import type { TransactionsSearch } from "#/lib/address";
import { dayShort } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { useCategories } from "#/parts/categories";
import { useCan } from "#/parts/rights";
import { opening } from "#/parts/views";
import { Button } from "#/ui/Button";
import { Search } from "#/ui/Field";
import { PickerButton, Toggle } from "#/ui/Picker";
import { toasts } from "#/ui/toasts";
import { filtersOf, isOn, switches, withCategory, without } from "./filters";
import css from "./TransactionsPage.module.css";
import { useView } from "./useView";

const ViewDialog = lazy(() => import("./ViewDialog").then((m) => ({ default: m.ViewDialog })));

const makers = () => [
  { value: "user", label: t`Person` },
  { value: "rule", label: t`Rule` },
  { value: "agent", label: t`Agent` },
  { value: "provider", label: t`Bank` },
];

const patience = 180; // milliseconds for more letters

/** The filters of the list. All of them are in the address, so that it can be kept and sent. */
export const FilterBar = memo(function FilterBar({
  search,
  choosing,
  onChoosing,
}: {
  search: TransactionsSearch;
  choosing: boolean;
  /** On a phone rows have no boxes unless one is choosing. */
  onChoosing: ((on: boolean) => void) | null;
}) {
  const go = useNavigate({ from: "/transactions" });
  const all = useQuery(accounts);
  const { choices, name, parent } = useCategories();
  const picked = search.category?.split(",") ?? [];
  const [typed, setTyped] = useState(search.search ?? "");
  const field = useRef<HTMLInputElement>(null);
  const set = (change: TransactionsSearch) => void go({ search: (s) => ({ ...s, ...change }), replace: true });
  useEffect(() => setTyped(search.search ?? ""), [search.search]);
  useEffect(() => {
    if (typed === (search.search ?? "")) return;
    const timer = setTimeout(
      () => void go({ search: (s) => ({ ...s, search: typed || undefined }), replace: true }),
      patience,
    );
    return () => clearTimeout(timer);
  }, [typed, search.search, go]);
  const { view, all: saved, choices: views, changed, left, narrowed } = useView(search);
  const [saving, setSaving] = useState(false);
  const may = useCan().write;
  const save = () => {
    if (narrowed || view) setSaving(true);
    else toasts.say({ text: t`Add a filter first, then save the view.` });
  };
  const showAll = () => void go({ search: { open: search.open }, replace: true });
  useKeys({ "/": () => field.current?.focus(), ...(may && { v: save }) });
  const unknown = left.join(", ");
  const days = [search.from, search.to].flatMap((d) => (d ? [dayShort(d, new Date().toISOString())] : [])).join(" – ");
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
        <div className={css.chips}>
          {onChoosing && (
            <span className="phone">
              <Toggle on={choosing} onChange={onChoosing}>
                <Trans>Select</Trans>
              </Toggle>
            </span>
          )}
          {views.length > 0 && (
            <PickerButton
              label={t`Views`}
              choices={views}
              value={view?.id}
              onPick={(c) => {
                const v = saved.find((x) => x.id === c.value);
                if (v) void go({ search: { ...opening(v), open: search.open } });
              }}
              onClear={showAll}
            >
              <Trans>Views</Trans>
            </PickerButton>
          )}
          <PickerButton
            label={t`Category`}
            choices={choices.filter((c) => !picked.includes(c.value))}
            value={undefined}
            onPick={(c) => set({ category: withCategory(picked, c.value, parent).join(",") })}
            onClear={() => set({ category: undefined })}
          >
            <Trans>Category</Trans>
          </PickerButton>
          {picked.map((slug) => (
            <Toggle
              key={slug}
              on
              onChange={() => set({ category: picked.filter((c) => c !== slug).join(",") || undefined })}
            >
              {name(slug)}
            </Toggle>
          ))}
          <PickerButton
            label={t`Account`}
            choices={(all.data ?? []).map((a) => ({
              value: a.short_id,
              label: accountName(a),
              hint: a.iso_currency_code,
            }))}
            value={search.account}
            onPick={(c) => set({ account: c.value })}
            onClear={() => set({ account: undefined })}
          >
            <Trans>Account</Trans>
          </PickerButton>
          <PickerButton
            label={t`Categorized by`}
            choices={makers()}
            value={search.filed}
            onPick={(c) => set({ filed: c.value as TransactionsSearch["filed"] })}
            onClear={() => set({ filed: undefined })}
          >
            <Trans>Categorized by</Trans>
          </PickerButton>
          <PickerButton
            label={t`More filters`}
            choices={switches
              .filter((s) => !isOn(search, s.is))
              .map((s) => ({ value: s.name.id, label: i18n._(s.name) }))}
            value={undefined}
            onPick={(c) => set(switches.find((s) => s.name.id === c.value)?.is ?? {})}
            onClear={() => {}}
          >
            <Trans>Filters</Trans>
          </PickerButton>
          {switches
            .filter((s) => isOn(search, s.is))
            .map((s) => (
              <Toggle key={s.name.id} on onChange={() => set(without(s.is))}>
                {i18n._(s.name)}
              </Toggle>
            ))}
          {(search.payee || search.similar || search.counterparty || search.recurring) && (
            <Toggle
              on
              onChange={() =>
                set({ payee: undefined, similar: undefined, counterparty: undefined, recurring: undefined })
              }
            >
              <Trans>Payee</Trans>
            </Toggle>
          )}
          {days && (
            <Toggle on onChange={() => set({ from: undefined, to: undefined })}>
              {days}
            </Toggle>
          )}
          {search.tag && (
            <Toggle on onChange={() => set({ tag: undefined })}>
              #{search.tag}
            </Toggle>
          )}
          {narrowed && (
            <Button kind="quiet" onClick={showAll}>
              <Trans>Clear filters</Trans>
            </Button>
          )}
          {may && (narrowed || view) && (
            <Button kind="quiet" icon={view ? "edit" : "plus"} keyed="V" onClick={save}>
              {view ? (changed ? t`Update view` : t`Edit view`) : t`Save view`}
            </Button>
          )}
          <a className="link" href={exportOf(filtersOf(search))} download title={t`Download these transactions as CSV`}>
            <Trans>Export</Trans>
          </a>
        </div>
      </div>
      {view && left.length > 0 && (
        <div className={css.why}>
          <p className="small dim">
            <Trans>This view also filters by {unknown}, which isn’t available here, so the list may show more.</Trans>
          </p>
        </div>
      )}
      {saving && (
        <Suspense>
          <ViewDialog view={view} filters={filtersOf(search)} left={left} onClose={() => setSaving(false)} />
        </Suspense>
      )}
    </>
  );
});
