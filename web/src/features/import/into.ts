import { t } from "@lingui/core/macro";
import { type Account, accountName } from "#/api/accounts";
import type { Connection } from "#/api/connections";
import type { FilePreview } from "#/api/files";
import { fromFiles } from "#/lib/provider";

/** Where the rows go: into an existing account, or into a new one. */
export type Into =
  | { kind: "account"; id: string }
  | { kind: "new"; name: string; bank: string; currency: string; type: "depository" | "credit" };

/**
 * The accounts that can take a file; accounts of files first. A connected account takes only rows from before the
 * bank's own data.
 */
export const takers = (all: readonly Account[] | undefined, banks: readonly Connection[] | undefined) => {
  const open = (all ?? []).filter((a) => banks?.some((c) => c.id === a.connection_id && c.status !== "disconnected"));
  return [...open.filter((a) => fromFiles(a)), ...open.filter((a) => !fromFiles(a))];
};

export const choicesOf = (accounts: readonly Account[], banks: readonly Connection[] | undefined) => [
  ...accounts.map((a): readonly [string, string] => {
    const bank = banks?.find((c) => c.id === a.connection_id)?.institution_name;
    return [a.id, [...new Set([accountName(a), bank])].filter(Boolean).join(" · ")];
  }),
  ["new", t`New account`] as const,
];

const folded = (s: string) => s.trim().toLowerCase();

/** The file's information about its account. */
export type FileDetails = Pick<FilePreview, "mask" | "institution_name" | "suggested_account_id">;

const sameNumber = (a: Account, file: FileDetails) => !file.mask || !a.mask || file.mask === a.mask;

/** Whether an account may belong to the bank that the file names. People write “Sparkasse Nord” for “Sparkasse”. */
const sameBank = (a: Account, file: FileDetails, banks: readonly Connection[] | undefined) => {
  const named = folded(banks?.find((c) => c.id === a.connection_id)?.institution_name ?? "");
  const bankName = folded(file.institution_name ?? "");
  return named.includes(bankName) || bankName.includes(named);
};

/** File names that banks and browsers use for any file, so that they say nothing about the account. */
const anyFile =
  /^(account|activity|auszug|buchungen|bank|csv|data|download|export|file|history|konto|kontoauszug|list|report|statements?|transactions?|umsaetze|umsätze|umsatzliste|[\d\s.()-]+|[\s_-])+$/i;

/**
 * A new account for a file, named after the file's bank and account number, or else after the file, unless that has a
 * generic name. The name of a format is not used as a bank.
 */
export function newInto(file: string, details: FileDetails | undefined, currency: string): Into {
  const bank = details?.institution_name ?? "";
  const called = file
    .replace(/\.\w+$/, "")
    .replaceAll("_", " ")
    .slice(0, 60)
    .replace(anyFile, "");
  const numbered = details?.mask ? t`Account ${{ number: details.mask }}` : called;
  const name = bank ? [bank, details?.mask].filter(Boolean).join(" ") : numbered;
  return { kind: "new", name, bank, currency, type: "depository" };
}

/**
 * Where rows go unless a person chooses: to the account with the file's number, else to the account of the last such
 * file. It never suggests an account with another number or bank, because mixed accounts are hard to separate. A new
 * account, in contrast, can be merged.
 */
export function usualInto(
  accounts: readonly Account[],
  banks: readonly Connection[] | undefined,
  file: string,
  details: FileDetails | undefined,
  before: string | null,
): Into {
  const numbered = accounts.find((a) => a.id === details?.suggested_account_id);
  const remembered = accounts.find(
    (a) => a.id === before && details && sameNumber(a, details) && sameBank(a, details, banks),
  );
  const into = numbered ?? remembered;
  return into ? { kind: "account", id: into.id } : newInto(file, details, "");
}

/** The connection for files of the bank with this name, if there is one. */
export const bankNamed = (banks: readonly Connection[] | undefined, name: string) =>
  banks?.find((c) => fromFiles(c) && c.status !== "disconnected" && folded(c.institution_name ?? "") === folded(name));

/**
 * Why a new account of a bank cannot have this name; empty if it can. Two accounts with one name would get their rows
 * mixed.
 */
export const nameTaken = (accounts: readonly Account[], bank: string | undefined, name: string): string =>
  accounts.some(
    (a) => bank && a.connection_id === bank && [a.name, a.display_name].some((n) => folded(n ?? "") === folded(name)),
  )
    ? t`You already have an account with this name. Choose it above, or enter another name.`
    : "";

/** Why the import cannot begin yet; empty if it can. */
export function wanting(into: Into, accounts: readonly Account[], banks: readonly Connection[] | undefined): string {
  if (into.kind === "account") return "";
  if (!into.name.trim()) return t`Enter an account name.`;
  const taken = nameTaken(accounts, bankNamed(banks, into.bank.trim() || into.name)?.id, into.name);
  if (taken) return taken;
  return /^[A-Z]{3}$/.test(into.currency) ? "" : t`Enter a three-letter currency code, for example EUR.`;
}
