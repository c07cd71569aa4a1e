import { t } from "@lingui/core/macro";
import type { FilePreview } from "#/api/files";

/** One of the accounts of a file. */
export type Portion = FilePreview["accounts"][number];

/** What becomes of it. */
export type Part = { kind: "account"; id: string } | { kind: "new"; name: string } | { kind: "skip" };

/** An account as the file names it: two without a name or a long number have different keys. */
export const portionName = (a: Pick<Portion, "key" | "name" | "iban" | "mask">) =>
  a.name || a.iban || (a.mask ? t`Account ${{ number: a.mask }}` : a.key);

/** Where it goes if nobody has said so: to the suggested account, else to a new one with its name. */
export const usualPart = (a: Portion, bank: string | null): Part =>
  a.suggestion.account_id
    ? { kind: "account", id: a.suggestion.account_id }
    : { kind: "new", name: a.name || (a.mask && bank ? `${bank} ${a.mask}` : portionName(a)) };

/** Whether the accounts of a file make a bank, because none of them is there yet. */
export const makesBank = (parts: readonly Part[]) =>
  parts.some((p) => p.kind === "new") && !parts.some((p) => p.kind === "account");

/** The name of their bank: as a person or the file says, else as its first account. The file’s format is no name. */
export const bankCalled = (bank: string, parts: readonly Part[]) =>
  bank.trim() || parts.flatMap((p) => (p.kind === "new" ? [p.name.trim()] : []))[0] || "";

/** The choices as the server takes them. */
export const choiceOf = (a: Portion, part: Part, likely: boolean) => {
  const extra = likely ? { include_likely_duplicates: true } : {};
  if (part.kind === "account") return { key: a.key, account_id: part.id, ...extra };
  if (part.kind === "new") return { key: a.key, create: { name: part.name.trim() } };
  return { key: a.key, skip: true };
};

/** A part without what a person types: a new account is any new account. */
export const nameless = (part: Part): Part => (part.kind === "new" ? { kind: "new", name: "new" } : part);

/** How many transactions an import would add. */
export const insertedCount = (a: Portion, part: Part, likely: boolean) =>
  part.kind === "skip" ? 0 : part.kind === "new" ? a.rows : a.rows - a.duplicates - (likely ? 0 : a.likely_duplicates);

/** Why the import cannot begin; empty if it can. */
export function wantingParts(all: readonly Portion[], parts: readonly Part[]): string {
  if (parts.some((p) => p.kind === "new" && !p.name.trim())) return t`Enter an account name.`;
  const into = parts
    .filter((p) => p.kind !== "skip")
    .map((p) => (p.kind === "account" ? p.id : p.name.trim().toLowerCase()));
  if (into.length === 0) return t`Choose where at least one account goes.`;
  if (new Set(into).size < into.length) return t`Choose a different account for each account in the file.`;
  return all.length === parts.length ? "" : t`Choose where at least one account goes.`;
}
