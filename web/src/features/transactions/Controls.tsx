import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { TransactionsSearch } from "#/lib/address";
import { type Choice, FilterButton, PickerButton } from "#/ui/Picker";
import { isOn, switches, withCategory, withOne } from "./filters";
import { payeeOf, type useNames } from "./useNames";

// Few people filter by dates or amounts, so these fields load when someone opens them.
const Ranges = lazy(() => import("./lazy").then((m) => ({ default: m.Ranges })));

type Props = {
  search: TransactionsSearch;
  known: ReturnType<typeof useNames>;
  set: (change: TransactionsSearch) => void;
};

/** Every filter of the list, each with its name and its control. */
export function controls({ search, known, set }: Props): { name: string; control: ReactNode }[] {
  const picker = (name: string, on: boolean, choices: Choice[], onPick: (c: Choice) => void, onOpen?: () => void) => ({
    name,
    control: (
      <PickerButton label={name} choices={choices} on={on} onPick={onPick} onOpen={onOpen}>
        {name}
      </PickerButton>
    ),
  });
  const left = (choices: Choice[], all: string | undefined) =>
    choices.filter((c) => !all?.split(",").includes(c.value));
  const paid = (search.payee ?? search.similar ?? search.counterparty ?? search.recurring) !== undefined;
  return [
    { name: t`Dates`, control: <Opening kind="days" name={t`Dates`} search={search} set={set} /> },
    { name: t`Amount`, control: <Opening kind="amount" name={t`Amount`} search={search} set={set} /> },
    picker(t`Category`, search.category !== undefined, left(known.categories, search.category), (c) =>
      set({ category: withCategory(search.category?.split(",") ?? [], c.value, known.parent).join(",") }),
    ),
    picker(
      t`Tag`,
      search.tag !== undefined,
      left(known.tags, search.tag),
      (c) => set({ tag: withOne(search.tag, c.value) }),
      () => known.open("tag"),
    ),
    picker(
      t`Payee`,
      paid,
      known.payees,
      (c) => set(payeeOf(c.value)),
      () => known.open("payee"),
    ),
    picker(t`Person`, search.person !== undefined, known.people, (c) => set({ person: c.value })),
    picker(t`Account`, search.account !== undefined, left(known.accounts, search.account), (c) =>
      set({ account: withOne(search.account, c.value) }),
    ),
    picker(
      t`Status`,
      switches.some((s) => isOn(search, s.is)),
      switches.filter((s) => !isOn(search, s.is)).map((s) => ({ value: s.name.id, label: i18n._(s.name) })),
      (c) => set(switches.find((s) => s.name.id === c.value)?.is ?? {}),
    ),
  ];
}

/** A filter button that opens fields, for dates or an amount. */
function Opening(p: { kind: "days" | "amount"; name: string } & Pick<Props, "search" | "set">) {
  const [used, use] = useState(false);
  const on = p.kind === "days" ? !!(p.search.from || p.search.to) : p.search.amount !== undefined;
  const button = (
    <FilterButton on={on} aria-haspopup="dialog" onClick={() => use(true)}>
      {p.name}
    </FilterButton>
  );
  if (!used) return button;
  return (
    <Suspense fallback={button}>
      <Ranges {...p} on={on} />
    </Suspense>
  );
}
