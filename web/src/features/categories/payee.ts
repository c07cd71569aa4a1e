import { type Payee, type PayeeDetail, payeeAt } from "#/api/payees";
import type { TransactionsSearch } from "#/lib/address";
import { shift } from "#/lib/dates";
import { type Cents, cents } from "#/lib/money";

export type PayeeMonths = { currency: string; bars: { month: string; value: Cents }[]; total: Cents; count: number };

/** The net amount that a payee got in each of the last 12 months, in the currency of its first total. */
export function monthsOf(p: PayeeDetail, last: string): PayeeMonths {
  const currency = p.totals[0]?.iso_currency_code ?? "";
  const known = new Map(p.months.filter((m) => m.iso_currency_code === currency).map((m) => [m.month, m]));
  const bars = Array.from({ length: 12 }, (_, i) => {
    const month = shift(last, i - 11);
    const m = known.get(month);
    return { month, value: m ? cents(m.money_out) - cents(m.money_in) : 0n };
  });
  return {
    currency,
    bars,
    total: bars.reduce((n, b) => n + b.value, 0n),
    count: bars.reduce((n, b) => n + (known.get(b.month)?.count ?? 0), 0),
  };
}

/**
 * Whether a payee stands for the household's own accounts. Its transactions are transfers: neither income nor spending,
 * so their sum would mislead.
 */
export const ownAccount = (p: Pick<PayeeDetail, "totals">, kind: (category: string) => string | undefined): boolean =>
  p.totals.length > 0 && p.totals.every((x) => x.category !== null && kind(x.category) === "transfer");

/**
 * The search for a payee's transactions. Transactions with the payee's key can also have a counterparty. Those belong
 * to another payee.
 */
export const searchOf = (p: Pick<PayeeDetail, "payee" | "counterparty">): TransactionsSearch =>
  p.counterparty ? { counterparty: p.counterparty.id } : { payee: p.payee, counterparty: "none" };

/** All other payees, sorted by name. A payee with several currencies is listed once. */
export function otherPayees(all: readonly Payee[], p: PayeeDetail): Payee[] {
  const by = new Map(all.map((o) => [payeeAt(o), o]));
  by.delete(payeeAt(p));
  return [...by.values()].sort((a, b) => a.payee_name.localeCompare(b.payee_name));
}
