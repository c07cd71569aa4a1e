import { i18n } from "@lingui/core";
import { t } from "@lingui/core/macro";
import type { TransactionsSearch } from "#/lib/address";
import { dayShort } from "#/lib/dates";
import { isOn, switches, without, withoutOne } from "./filters";
import { amountName } from "./limits";

/** A chip for an active filter: its kind, its value, and the change to the address that removes it. */
export type Chip = { key: string; kind: string; label: string; off: TransactionsSearch };

/** The names of the records in an address. */
export type Names = {
  category: (slug: string) => string;
  account: (id: string) => string;
  person: (id: string) => string;
  payee: string | undefined;
  today: string;
};

/** A range of days: "1 Nov – 17 Nov", or only one end. */
export function daysName({ from, to }: TransactionsSearch, today: string): string {
  if (from && to) return from === to ? dayShort(from, today) : `${dayShort(from, today)} – ${dayShort(to, today)}`;
  if (from) return t`from ${{ day: dayShort(from, today) }}`;
  return to ? t`until ${{ day: dayShort(to, today) }}` : "";
}

/**
 * The chips for the filters of an address, in the order of the filter bar. The search text has a field, so it needs no
 * chip.
 */
export function chipsOf(s: TransactionsSearch, n: Names): Chip[] {
  const each = (all: string | undefined, of: (one: string) => Omit<Chip, "key">) =>
    (all?.split(",") ?? []).map((one) => ({ key: one, ...of(one) }));
  const out: Chip[] = [];
  if (s.from || s.to)
    out.push({ key: "days", kind: t`Dates`, label: daysName(s, n.today), off: { from: undefined, to: undefined } });
  if (s.amount) out.push({ key: "amount", kind: t`Amount`, label: amountName(s.amount), off: { amount: undefined } });
  out.push(
    ...each(s.category, (c) => ({
      kind: t`Category`,
      label: n.category(c),
      off: { category: withoutOne(s.category, c) },
    })),
    ...each(s.tag, (tag) => ({ kind: t`Tag`, label: `#${tag}`, off: { tag: withoutOne(s.tag, tag) } })),
  );
  if (s.payee || s.similar || s.counterparty || s.recurring)
    out.push({
      key: "payee",
      kind: t`Payee`,
      label: n.payee ?? t`One payee`,
      off: { payee: undefined, similar: undefined, counterparty: undefined, recurring: undefined },
    });
  if (s.person) out.push({ key: "person", kind: t`Person`, label: n.person(s.person), off: { person: undefined } });
  out.push(
    ...each(s.account, (a) => ({ kind: t`Account`, label: n.account(a), off: { account: withoutOne(s.account, a) } })),
    ...switches
      .filter((x) => isOn(s, x.is))
      .map((x) => ({ key: x.name.id, kind: t`Status`, label: i18n._(x.name), off: without(x.is) })),
  );
  return out;
}
