import { expect, it } from "vitest";
import type { Account } from "#/api/accounts";
import type { Connection } from "#/api/connections";
import { bankNamed, choicesOf, nameTaken, takers, usualInto, wanting } from "./into";

const bank = (institution_name: string, provider: Connection["provider"], status: Connection["status"] = "active") =>
  ({ id: institution_name + provider, institution_name, provider, status }) as Connection;

it("finds the bank that files went to before", () => {
  const banks = [bank("Nordbank", "plaid"), bank("Harbour", "csv", "disconnected"), bank("Nordbank", "csv")];
  expect(bankNamed(banks, " nordbank ")?.id).toBe("Nordbankcsv");
  expect(bankNamed(banks, "Harbour")).toBeUndefined();
});

const account = (id: string, mask: string | null = null) =>
  ({ id, name: `Account ${id}`, mask, connection_id: "Harbourcsv" }) as Account;

const unnamed = { mask: null, institution_name: null, suggested_account_id: null };

it("goes where such files went before", () => {
  const all = [account("1"), account("2")];
  expect(usualInto(all, [], "export.csv", unnamed, "2")).toEqual({ kind: "account", id: "2" });
  expect(usualInto(all, [], "export.csv", unnamed, "gone")).toMatchObject({ kind: "new" });
});

it("goes into the account of the file’s number, and into none of another", () => {
  const all = [account("1", "3000"), account("2", "4111")];
  const details = { ...unnamed, mask: "4111", suggested_account_id: "2" };
  expect(usualInto(all, [], "a.csv", details, "1")).toEqual({ kind: "account", id: "2" });
  const other = { ...unnamed, mask: "9999" };
  expect(usualInto(all, [], "a.csv", other, "1")).toMatchObject({ kind: "new", name: "Account 9999", bank: "" });
  expect(usualInto([account("1")], [], "Account 1.csv", unnamed, null)).toMatchObject({ kind: "new" });
});

it("offers no account of another bank, even if such a file went there", () => {
  const details = { ...unnamed, mask: "3000", institution_name: "Sparkasse" };
  const offered = (name: string) =>
    usualInto([account("1", "3000")], [{ ...bank(name, "csv"), id: "Harbourcsv" }], "a.csv", details, "1");
  expect(offered("Harbour")).toMatchObject({ kind: "new", name: "Sparkasse 3000", bank: "Sparkasse" });
  expect(offered("Sparkasse Nord")).toEqual({ kind: "account", id: "1" });
});

it("offers linked accounts too, unless their bank is gone", () => {
  const of = (id: string, connection_id: string | null, provider: string) =>
    ({ id, connection_id, provider }) as unknown as Account;
  const all = [of("linked", "Nordbankplaid", "plaid"), of("gone", "Oldplaid", "plaid"), of("cash", null, "manual")];
  const banks = [bank("Nordbank", "plaid"), bank("Old", "plaid", "disconnected"), bank("Harbour", "csv")];
  const ids = takers([...all, of("file", "Harbourcsv", "csv")], banks).map((a) => a.id);
  expect(ids).toEqual(["file", "linked"]);
});

it("calls a new account after what is known", () => {
  expect(usualInto([], [], "Joint_May.csv", unnamed, null)).toMatchObject({ kind: "new", name: "Joint May", bank: "" });
  for (const file of ["statement.csv", "statement2.csv", "export (3).csv", "2026-10_transactions.csv"])
    expect(usualInto([], [], file, unnamed, null)).toMatchObject({ kind: "new", name: "", bank: "" });
  const app = { ...unnamed, format_name: "YNAB" }; // the name of a format is not a bank
  expect(usualInto([], [], "statement.csv", app, null)).toMatchObject({ kind: "new", name: "", bank: "" });
});

it("says once what an account and its bank are both called", () => {
  const all = [{ ...account("1"), connection_id: "Account 1csv" } as Account, account("2")];
  const banks = [bank("Account 1", "csv"), bank("Harbour", "csv")];
  expect(choicesOf(all, banks).map(([, name]) => name)).toEqual(["Account 1", "Account 2 · Harbour", "New account"]);
});

it("says what a new account still wants", () => {
  const into = { kind: "new", name: "Joint", bank: "Harbour", currency: "EUR", type: "depository" } as const;
  const says = (of: Partial<typeof into>) => wanting({ ...into, ...of } as typeof into, [], []);
  expect(says({})).toBe("");
  expect(says({ name: " " as "Joint" })).toContain("account");
  expect(says({ bank: "" as "Harbour" })).toBe("");
  expect(says({ currency: "euro" as "EUR" })).toContain("three-letter");
});

it("takes no account that is there for a new one", () => {
  const banks = [bank("Harbour", "csv"), bank("Account 4567", "csv")];
  const at = (connection: string) => ({ ...account("4567"), connection_id: connection }) as Account;
  const into = { kind: "new", name: "account 4567 ", bank: "", currency: "EUR", type: "depository" } as const;
  expect(wanting(into, [at("Account 4567csv")], banks)).toContain("already");
  expect(wanting({ ...into, bank: "Harbour" }, [at("Account 4567csv")], banks)).toBe("");
  expect(wanting({ ...into, bank: "Harbour" }, [at("Harbourcsv")], banks)).toContain("already");
  expect(nameTaken([{ ...at("Harbourcsv"), display_name: "Joint" }], "Harbourcsv", "joint")).toContain("already");
  expect(nameTaken([at("Harbourcsv")], undefined, "Account 4567")).toBe("");
});
