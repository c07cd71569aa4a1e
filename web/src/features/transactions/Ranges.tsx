import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import type { TransactionsSearch } from "#/lib/address";
import { localDay } from "#/lib/dates";
import { AmountField } from "#/ui/AmountField";
import { Button } from "#/ui/Button";
import { Field } from "#/ui/Field";
import { Icon } from "#/ui/Icon";
import { FilterButton } from "#/ui/Picker";
import { amountFrom, presets, rangeOf } from "./limits";
import css from "./Ranges.module.css";

type Props = {
  kind: "days" | "amount";
  name: string;
  on: boolean;
  search: TransactionsSearch;
  set: (change: TransactionsSearch) => void;
};

/** A filter button with fields below it. It replaces the plain button once that was pressed, so it starts open. */
export function Ranges({ kind, name, on, search, set }: Props) {
  const [open, setOpen] = useState(true);
  const container = useRef<HTMLSpanElement>(null);
  const close = () => {
    setOpen(false);
    container.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (open)
      container.current?.querySelector("[role=dialog]")?.querySelector<HTMLElement>(":is(button,input)")?.focus();
  }, [open]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears what its button and its fields do
    <span
      ref={container}
      className={css.at}
      onKeyDown={(e) => {
        if (e.key !== "Escape" || !open) return;
        e.stopPropagation();
        close();
      }}
      onBlur={(e) => document.hasFocus() && !e.currentTarget.contains(e.relatedTarget) && setOpen(false)}
    >
      <FilterButton on={on} aria-haspopup="dialog" aria-expanded={open} onClick={() => setOpen(!open)}>
        {name}
      </FilterButton>
      {open && (
        <div role="dialog" aria-label={name} className={css.popup} tabIndex={-1}>
          {kind === "days" ? (
            <Days search={search} set={set} />
          ) : (
            <Amounts
              search={search}
              set={(change) => {
                close();
                set(change);
              }}
            />
          )}
        </div>
      )}
    </span>
  );
}

function Days({ search, set }: Pick<Props, "search" | "set">) {
  const { from, to } = search;
  return (
    <div className={css.days}>
      <div className={css.presets}>
        {presets(localDay(new Date())).map((p) => {
          const is = p.days.from === from && p.days.to === to;
          return (
            <button
              key={p.name.id}
              type="button"
              className={css.preset}
              aria-pressed={is}
              onClick={() => set({ from: p.days.from, to: p.days.to })}
            >
              {i18n._(p.name)}
              {is && <Icon name="check" small />}
            </button>
          );
        })}
      </div>
      <div className={css.fields}>
        <Field
          label={t`From`}
          type="date"
          value={from ?? ""}
          max={to}
          onChange={(e) => set({ from: e.target.value || undefined })}
        />
        <Field
          label={t`To`}
          type="date"
          value={to ?? ""}
          min={from}
          onChange={(e) => set({ to: e.target.value || undefined })}
        />
      </div>
    </div>
  );
}

function Amounts({ search, set }: Pick<Props, "search" | "set">) {
  const now = rangeOf(search.amount) ?? { from: null, to: null };
  const exact = now.from !== null && now.from === now.to;
  const submit = (e: SubmitEvent<HTMLFormElement>) => {
    e.preventDefault();
    const f = new FormData(e.currentTarget);
    const at = (name: string) => String(f.get(name) ?? "");
    set({ amount: amountFrom({ from: at("from"), to: at("to"), exact: at("exact") }) });
  };
  return (
    <form className={css.fields} onSubmit={submit}>
      <div className={css.pair}>
        <AmountField label={t`From`} name="from" checked amount={exact ? null : now.from} />
        <AmountField label={t`To`} name="to" checked amount={exact ? null : now.to} />
      </div>
      <AmountField label={t`Exactly`} name="exact" checked amount={exact ? now.from : null} />
      <p className="small dim">
        <Trans>Money in and money out alike. To find only one of them, choose it under Status.</Trans>
      </p>
      <div className={css.acts}>
        <Button kind="filled" type="submit">
          <Trans>Apply</Trans>
        </Button>
      </div>
    </form>
  );
}
