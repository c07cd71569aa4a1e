import type { BulkSet } from "#/api/transactions";
import { payments } from "#/lib/words";

/** What is done to one payment or to many: the fields, and the words before and after. */
export type Deed = { set: BulkSet; ask: (n: number) => string; said: (n: number) => string };

export const fileUnder = (category: string, name: string): Deed => ({
  set: { category },
  ask: (n) => `File ${payments(n)} under ${name}`,
  said: (n) => (n === 1 ? `Filed under ${name}` : `Filed ${n.toLocaleString("en")} under ${name}`),
});

export const tagWith = (slug: string): Deed => ({
  set: { tags_to_add: [slug] },
  ask: (n) => `Tag ${payments(n)} #${slug}`,
  said: (n) => (n === 1 ? `Tagged #${slug}` : `Tagged ${n.toLocaleString("en")} #${slug}`),
});

export const untag = (slug: string): Deed => ({
  set: { tags_to_remove: [slug] },
  ask: (n) => `Take #${slug} off ${payments(n)}`,
  said: (n) => (n === 1 ? `Took #${slug} off` : `Took #${slug} off ${n.toLocaleString("en")}`),
});

export const payTo = (counterparty_id: string, name: string): Deed => ({
  set: { counterparty_id },
  ask: (n) => `Name the payee of ${payments(n)} ${name}`,
  said: (n) => (n === 1 ? `Its payee is ${name}` : `The payee of ${n.toLocaleString("en")} is ${name}`),
});

export const comment = (words: string): Deed => ({
  set: { comment: words },
  ask: (n) => `Comment on ${payments(n)}`,
  said: (n) => (n === 1 ? "Comment added" : `Commented on ${n.toLocaleString("en")}`),
});

/** A slug of what was typed for a new tag. */
export const slugOf = (typed: string) =>
  typed
    .trim()
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9:]+/g, "-")
    .replace(/^-+|-+$/g, "");
