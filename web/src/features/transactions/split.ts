import type { Cents } from "#/lib/money";
import { typed } from "#/lib/typed";

/** A part while a person edits it. */
export type Draft = { key: number; id?: string; amount: string; category: string; previous: string };

/** The kinds of cached data that a split changes. */
export const touches = ["transactions", "review", "overview", "accounts", "targets", "changes"] as const;

/** The most parts that a transaction can have. */
export const maxParts = 20;

/** The amount of a transaction that its parts leave over; null if one of the parts is not a valid amount. */
export function rest(total: Cents, amounts: readonly string[]): Cents | null {
  let left = total;
  for (const a of amounts) {
    const n = typed(a);
    if (n === null || n === 0n) return null;
    left -= n;
  }
  return left;
}
