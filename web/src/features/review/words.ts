import { plural, t } from "@lingui/core/macro";
import { transactions } from "#/lib/words";
import { number } from "./counts";
import type { Group } from "./groups";

/** How many payees and transactions a part of the list has. Pending transactions cannot be approved yet. */
export function sizeOf(which: Group[]): string {
  const ready = number(which);
  const pending = which.reduce((n, g) => n + g.pending, 0);
  return [
    plural(which.length, { one: "# payee", other: "# payees" }),
    ready ? transactions(ready) : "",
    pending ? plural(pending, { one: "# pending", other: "# pending" }) : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** The toasts of this screen, by the number of transactions of a payee. */
export const approved = (n: number, payee: string) =>
  plural(n, { one: `Approved # ${payee} transaction`, other: `Approved # ${payee} transactions` });

export const approvedAll = (n: number, payees: number) =>
  t`Approved ${plural(n, { one: "# transaction", other: "# transactions" })} from ${plural(payees, { one: "# payee", other: "# payees" })}`;

export const categorized = (n: number, payee: string, category: string) =>
  plural(n, {
    one: `Categorized # ${payee} transaction as ${category}`,
    other: `Categorized # ${payee} transactions as ${category}`,
  });

export const skipped = (n: number, payee: string) =>
  plural(n, { one: `Skipped # ${payee} transaction`, other: `Skipped # ${payee} transactions` });
