import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { accountName, accounts } from "#/api/accounts";
import type { TransactionsSearch } from "#/lib/address";
import { dayShort } from "#/lib/dates";
import { useKeys } from "#/lib/keys";
import { useCategories } from "#/parts/categories";
import { Button } from "#/ui/Button";
import { Search } from "#/ui/Field";
import { PickerButton, Toggle } from "#/ui/Picker";
import css from "./TransactionsPage.module.css";

const patience = 180; // milliseconds for more letters

/** What narrows the list. All of it is in the address, so that it can be kept and sent. */
export function FilterBar({ search }: { search: TransactionsSearch }) {
  const go = useNavigate({ from: "/transactions" });
  const all = useQuery(accounts);
  const { choices } = useCategories();
  const [typed, setTyped] = useState(search.search ?? "");
  const field = useRef<HTMLInputElement>(null);
  const set = (change: TransactionsSearch) => void go({ search: (s) => ({ ...s, ...change }), replace: true });
  useEffect(() => setTyped(search.search ?? ""), [search.search]);
  useEffect(() => {
    if (typed === (search.search ?? "")) return;
    const t = setTimeout(
      () => void go({ search: (s) => ({ ...s, search: typed || undefined }), replace: true }),
      patience,
    );
    return () => clearTimeout(t);
  }, [typed, search.search, go]);
  useKeys({ "/": () => field.current?.focus() });
  const { open: _, ...narrowing } = search;
  const days = [search.from, search.to].flatMap((d) => (d ? [dayShort(d, new Date().toISOString())] : [])).join(" – ");
  return (
    <div className={css.filters}>
      <Search label="Search names" keyed="/" ref={field} value={typed} onChange={(e) => setTyped(e.target.value)} />
      <div className={css.chips}>
        <PickerButton
          label="Category"
          choices={choices}
          value={search.category}
          onPick={(c) => set({ category: c.value })}
          onClear={() => set({ category: undefined })}
        >
          Category
        </PickerButton>
        <PickerButton
          label="Account"
          choices={(all.data ?? []).map((a) => ({
            value: a.short_id,
            label: accountName(a),
            hint: a.iso_currency_code,
          }))}
          value={search.account}
          onPick={(c) => set({ account: c.value })}
          onClear={() => set({ account: undefined })}
        >
          Account
        </PickerButton>
        <Toggle on={search.uncategorized === true} onChange={(on) => set({ uncategorized: on || undefined })}>
          No category
        </Toggle>
        <Toggle on={search.direction === "in"} onChange={(on) => set({ direction: on ? "in" : undefined })}>
          Money in
        </Toggle>
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
        {Object.values(narrowing).some((v) => v !== undefined) && (
          <Button kind="quiet" onClick={() => void go({ search: { open: search.open }, replace: true })}>
            Show all
          </Button>
        )}
      </div>
    </div>
  );
}
