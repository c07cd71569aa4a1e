import { type Cents, typed } from "#/lib/money";

/** A part as it is being written. */
export type Draft = { key: number; id?: string; amount: string; category: string; was: string };

/** The nouns that a split shows in. */
export const touches = ["transactions", "review", "overview", "accounts", "targets", "changes"] as const;

/** The most parts that a payment has. */
export const most = 20;

/** What is left of a payment when parts are taken off; null while one of them is no amount. */
export function rest(whole: Cents, amounts: readonly string[]): Cents | null {
  let left = whole;
  for (const a of amounts) {
    const n = typed(a);
    if (n === null || n === 0n) return null;
    left -= n;
  }
  return left;
}
