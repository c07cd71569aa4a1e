import { expect, it } from "vitest";
import type { Account } from "#/api/accounts";
import type { Connection } from "#/api/connections";
import { bankNamed, takers, usualInto, wanting } from "./into";

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
  const app = { ...unnamed, format_name: "YNAB" }; // a format is no bank
  expect(usualInto([], [], "statement.csv", app, null)).toMatchObject({ kind: "new", name: "", bank: "" });
});

it("says what a new account still wants", () => {
  const into = { kind: "new", name: "Joint", bank: "Harbour", currency: "EUR", type: "depository" } as const;
  expect(wanting(into)).toBe("");
  expect(wanting({ ...into, name: " " })).toContain("account");
  expect(wanting({ ...into, bank: "" })).toBe("");
  expect(wanting({ ...into, currency: "euro" })).toContain("three-letter");
});
