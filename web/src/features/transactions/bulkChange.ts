import { plural } from "@lingui/core/macro";
import type { BulkSet } from "#/api/transactions";

/** A change to one or many transactions: the fields, and the texts before and after the change. */
export type BulkChange = { set: BulkSet; ask: (n: number) => string; text: (n: number) => string };

export const fileUnder = (category: string, name: string): BulkChange => ({
  set: { category },
  ask: (n) => plural(n, { one: `Categorize # transaction as ${name}`, other: `Categorize # transactions as ${name}` }),
  text: (n) => plural(n, { one: `Categorized as ${name}`, other: `Categorized # as ${name}` }),
});

// The # of a tag is part of an argument, because in the text of a plural # stands for the number.
export const tagWith = (slug: string, tag = `#${slug}`): BulkChange => ({
  set: { tags_to_add: [slug] },
  ask: (n) => plural(n, { one: `Tag # transaction ${tag}`, other: `Tag # transactions ${tag}` }),
  text: (n) => plural(n, { one: `Tagged ${tag}`, other: `Tagged # with ${tag}` }),
});

export const untag = (slug: string, tag = `#${slug}`): BulkChange => ({
  set: { tags_to_remove: [slug] },
  ask: (n) => plural(n, { one: `Remove ${tag} from # transaction`, other: `Remove ${tag} from # transactions` }),
  text: (n) => plural(n, { one: `Removed ${tag}`, other: `Removed ${tag} from #` }),
});

export const payTo = (counterparty_id: string, name: string): BulkChange => ({
  set: { counterparty_id },
  ask: (n) =>
    plural(n, { one: `Set payee of # transaction to ${name}`, other: `Set payee of # transactions to ${name}` }),
  text: (n) => plural(n, { one: `Payee set to ${name}`, other: `Payee set to ${name} for #` }),
});

export const comment = (words: string): BulkChange => ({
  set: { comment: words },
  ask: (n) => plural(n, { one: "Comment on # transaction", other: "Comment on # transactions" }),
  text: (n) => plural(n, { one: "Comment added", other: "Comment added to #" }),
});

/** The slug for the typed name of a new tag. */
export const slugOf = (typed: string) =>
  typed
    .trim()
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9:]+/g, "-")
    .replace(/^-+|-+$/g, "");
