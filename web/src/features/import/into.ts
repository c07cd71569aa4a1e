import { t } from "@lingui/core/macro";
import { type Account, accountName } from "#/api/accounts";
import type { Connection } from "#/api/connections";
import type { FilePreview } from "#/api/files";
import { fromFiles } from "#/lib/provider";

/** Where the rows go: an account that exists, or one that is made for them. */
export type Into =
  | { kind: "account"; id: string }
  | { kind: "new"; name: string; bank: string; currency: string; type: "depository" | "credit" };

/** The accounts that files can go into, those of files first: linked ones take what is older than the bank's report. */
export const takers = (all: readonly Account[] | undefined, banks: readonly Connection[] | undefined) => {
  const open = (all ?? []).filter((a) => banks?.some((c) => c.id === a.connection_id && c.status !== "disconnected"));
  return [...open.filter((a) => fromFiles(a)), ...open.filter((a) => !fromFiles(a))];
};

export const choicesOf = (accounts: readonly Account[], banks: readonly Connection[] | undefined) => [
  ...accounts.map((a): readonly [string, string] => {
    const bank = banks?.find((c) => c.id === a.connection_id)?.institution_name;
    return [a.id, [accountName(a), bank].filter(Boolean).join(" · ")];
  }),
  ["new", t`New account`] as const,
];

const folded = (s: string) => s.trim().toLowerCase();

/** The file's information about its account. */
export type FileDetails = Pick<FilePreview, "mask" | "institution_name" | "suggested_account_id">;

const sameNumber = (a: Account, file: FileDetails) => !file.mask || !a.mask || file.mask === a.mask;

/** Whether an account may be of the bank whose format a file has: people write “Sparkasse Nord” for “Sparkasse”. */
const sameBank = (a: Account, file: FileDetails, banks: readonly Connection[] | undefined) => {
  const named = folded(banks?.find((c) => c.id === a.connection_id)?.institution_name ?? "");
  const bankName = folded(file.institution_name ?? "");
  return named.includes(bankName) || bankName.includes(named);
};

/** Names that banks and browsers give to any file, so that they say nothing about an account. */
const anyFile =
  /^(account|activity|auszug|buchungen|bank|csv|data|download|export|file|history|konto|kontoauszug|list|report|statements?|transactions?|umsaetze|umsätze|umsatzliste|[\d\s.()-]+|[\s_-])+$/i;

/** An account made for a file: called after its bank and its number; else after a file that has a name of its own. A format is no bank. */
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
 * Where rows go if nobody has said so: to the account with the file's number, else where such files went before, and
 * never into one of another number or bank: a wrong account mixes two, a new one can be merged.
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

/** The connection that holds the files of the bank with this name, if any. */
export const bankNamed = (banks: readonly Connection[] | undefined, name: string) =>
  banks?.find((c) => fromFiles(c) && c.status !== "disconnected" && folded(c.institution_name ?? "") === folded(name));

/** Why it cannot begin yet; empty if it can. */
export function wanting(into: Into): string {
  if (into.kind === "account") return "";
  if (!into.name.trim()) return t`Enter an account name.`;
  return /^[A-Z]{3}$/.test(into.currency) ? "" : t`Enter a three-letter currency code, for example EUR.`;
}
