import { t } from "@lingui/core/macro";
import type { FilePreview } from "#/api/files";

/** One of the accounts in a file. */
export type Portion = FilePreview["accounts"][number];

/** The choice for an account in a file: an existing account, a new one, or none. */
export type Part = { kind: "account"; id: string } | { kind: "new"; name: string } | { kind: "skip" };

/** The name of an account in a file. If it has no name or number, its key is used, which is unique in the file. */
export const portionName = (a: Pick<Portion, "key" | "name" | "iban" | "mask">) =>
  a.name || a.iban || (a.mask ? t`Account ${{ number: a.mask }}` : a.key);

/** The choice unless a person makes one: the suggested account, else a new one with the file's name for it. */
export const usualPart = (a: Portion, bank: string | null): Part =>
  a.suggestion.account_id
    ? { kind: "account", id: a.suggestion.account_id }
    : { kind: "new", name: a.name || (a.mask && bank ? `${bank} ${a.mask}` : portionName(a)) };

/** Whether the import creates a bank: some accounts are new, and none goes into an existing account. */
export const makesBank = (parts: readonly Part[]) =>
  parts.some((p) => p.kind === "new") && !parts.some((p) => p.kind === "account");

/** The name of the new bank: from the person or the file, else from its first account. A format's name is not used. */
export const bankCalled = (bank: string, parts: readonly Part[]) =>
  bank.trim() || parts.flatMap((p) => (p.kind === "new" ? [p.name.trim()] : []))[0] || "";

/** The choice for an account in the API's form. */
export const choiceOf = (a: Portion, part: Part, likely: boolean) => {
  const extra = likely ? { include_likely_duplicates: true } : {};
  if (part.kind === "account") return { key: a.key, account_id: part.id, ...extra };
  if (part.kind === "new") return { key: a.key, create: { name: part.name.trim() } };
  return { key: a.key, skip: true };
};

/** A choice without the typed name, so that typing does not change the preview. */
export const nameless = (part: Part): Part => (part.kind === "new" ? { kind: "new", name: "new" } : part);

/** How many transactions an import would add to one account. */
export const insertedCount = (a: Portion, part: Part, likely: boolean) =>
  part.kind === "skip" ? 0 : part.kind === "new" ? a.rows : a.rows - a.duplicates - (likely ? 0 : a.likely_duplicates);

/** Why the import cannot begin yet; empty if it can. */
export function wantingParts(all: readonly Portion[], parts: readonly Part[], taken: (name: string) => string): string {
  if (parts.some((p) => p.kind === "new" && !p.name.trim())) return t`Enter an account name.`;
  const there = parts.map((p) => (p.kind === "new" ? taken(p.name) : "")).find(Boolean);
  if (there) return there;
  const into = parts
    .filter((p) => p.kind !== "skip")
    .map((p) => (p.kind === "account" ? p.id : p.name.trim().toLowerCase()));
  if (into.length === 0) return t`Choose where at least one account goes.`;
  if (new Set(into).size < into.length) return t`Choose a different account for each account in the file.`;
  return all.length === parts.length ? "" : t`Choose where at least one account goes.`;
}
