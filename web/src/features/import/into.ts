import { type Account, accountName } from "#/api/accounts";
import type { Connection } from "#/api/connections";

/** Where the rows go: an account that exists, or one that is made for them. */
export type Into =
  | { kind: "none" }
  | { kind: "account"; id: string }
  | { kind: "new"; name: string; bank: string; currency: string; type: "depository" | "credit" };

/** Files go only into accounts that files made. */
export const fileAccounts = (all: readonly Account[] | undefined) =>
  (all ?? []).filter((a) => a.provider === "csv" && a.connection_id !== null);

export const choicesOf = (accounts: readonly Account[], banks: readonly Connection[] | undefined) => [
  ...accounts.map((a): readonly [string, string] => {
    const bank = banks?.find((c) => c.id === a.connection_id)?.institution_name;
    return [a.id, [accountName(a), bank].filter(Boolean).join(" · ")];
  }),
  ["new", "A new account"] as const,
];

const letters = (s: string) => s.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");

/** Whether a file is called after an account. Very short names would be found in too many others. */
const names = (file: string, account: string) =>
  letters(account).length > 2 && letters(file.replace(/\.\w+$/, "")).includes(letters(account));

/**
 * Where rows go if nobody has said so: where such files went before, else the only account there is or the only one
 * after which the file is called, and a new one if there is none.
 */
export function usualInto(accounts: readonly Account[], file: string, currency: string, before?: string | null): Into {
  if (accounts.some((a) => a.id === before)) return { kind: "account", id: before as string };
  const [only, another] = accounts;
  if (another) {
    const [named, more] = accounts.filter((a) => names(file, accountName(a)));
    return named && !more ? { kind: "account", id: named.id } : { kind: "none" };
  }
  if (only) return { kind: "account", id: only.id };
  const name = file
    .replace(/\.\w+$/, "")
    .replaceAll("_", " ")
    .slice(0, 60);
  return { kind: "new", name, bank: "", currency, type: "depository" };
}

const folded = (s: string) => s.trim().toLowerCase();

/** The connection that has the files of a bank, if there is one. */
export const bankNamed = (banks: readonly Connection[] | undefined, name: string) =>
  banks?.find(
    (c) => c.provider === "csv" && c.status !== "disconnected" && folded(c.institution_name ?? "") === folded(name),
  );

/** Why it cannot begin yet; empty if it can. */
export function wanting(into: Into): string {
  if (into.kind === "none") return "Choose the account that the file is of.";
  if (into.kind === "account") return "";
  if (!into.name.trim()) return "Name the new account.";
  if (!into.bank.trim()) return "Name the bank.";
  return /^[A-Z]{3}$/.test(into.currency) ? "" : "A currency has three letters, such as EUR.";
}
