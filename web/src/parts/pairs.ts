import { t } from "@lingui/core/macro";
import type { Transaction } from "#/api/transactions";

type Paired = Pick<Transaction, "linked_transaction_id" | "excluded" | "transfer">;
type Counted = Paired & Pick<Transaction, "excluded_reason">;

/** Why a pair leaves a transaction out of totals; empty if it counts, such as the side of a duplicate that is kept. */
export function pairWord(tx: Paired): string {
  if (tx.linked_transaction_id && tx.excluded) return t`duplicate`;
  return tx.transfer ? t`transfer` : "";
}

/** Why totals leave out a transaction, in one word for a list; empty if it counts. */
export const outWord = (tx: Counted): string => pairWord(tx) || (tx.excluded || tx.excluded_reason ? t`excluded` : "");

/** The text for a transaction that nobody excluded. It counts, unless it is a transfer or a duplicate. */
export function defaultTotalsWord(tx: Paired): string {
  if (tx.transfer) return t`Not counted: transfer`;
  return tx.excluded ? t`Not counted: duplicate` : t`Counts in totals`;
}
