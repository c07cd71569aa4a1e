import { t } from "@lingui/core/macro";
import type { Transaction } from "#/api/transactions";

type Paired = Pick<Transaction, "linked_transaction_id" | "excluded" | "transfer">;

/** What a pair makes of a transaction in totals; empty for one that counts, such as the kept side of a duplicate. */
export function pairWord(tx: Paired): string {
  if (tx.linked_transaction_id && tx.excluded) return t`duplicate`;
  return tx.transfer ? t`transfer` : "";
}

/** The text if nobody excluded the transaction: it counts, or its pair excludes it. */
export function defaultTotalsWord(tx: Paired): string {
  if (tx.transfer) return t`Not counted: transfer`;
  return tx.excluded ? t`Not counted: duplicate` : t`Counts in totals`;
}
