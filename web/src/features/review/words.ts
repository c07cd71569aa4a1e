import { plural, t } from "@lingui/core/macro";
import { transactions } from "#/lib/words";
import { number } from "./counts";
import type { Group } from "./groups";

/** The number of payees and transactions in a part of the list, and how many pending ones cannot be approved yet. */
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

/** The texts of this screen's toasts. */
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
