import type { Cents } from "#/lib/money";
import { typed } from "#/lib/typed";

/** A part as it is being written. */
export type Draft = { key: number; id?: string; amount: string; category: string; previous: string };

/** The nouns that a split shows in. */
export const touches = ["transactions", "review", "overview", "accounts", "targets", "changes"] as const;

/** The most parts of a transaction. */
export const maxParts = 20;

/** The amount that the parts leave of a transaction; null while one of them is not an amount. */
export function rest(total: Cents, amounts: readonly string[]): Cents | null {
  let left = total;
  for (const a of amounts) {
    const n = typed(a);
    if (n === null || n === 0n) return null;
    left -= n;
  }
  return left;
}
