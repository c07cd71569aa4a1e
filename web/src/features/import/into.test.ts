import { expect, it } from "vitest";
import type { Account } from "#/api/accounts";
import type { Connection } from "#/api/connections";
import { bankNamed, usualInto, wanting } from "./into";

const bank = (institution_name: string, provider: Connection["provider"], status: Connection["status"] = "active") =>
  ({ id: institution_name + provider, institution_name, provider, status }) as Connection;

it("finds the bank that files went to before", () => {
  const banks = [bank("Nordbank", "plaid"), bank("Harbour", "csv", "disconnected"), bank("Nordbank", "csv")];
  expect(bankNamed(banks, " nordbank ")?.id).toBe("Nordbankcsv");
  expect(bankNamed(banks, "Harbour")).toBeUndefined();
});

const account = (id: string, mask: string | null = null) =>
  ({ id, name: `Account ${id}`, mask, connection_id: "Harbourcsv" }) as Account;

const unnamed = { mask: null, institution_name: null };

it("goes where such files went before", () => {
  const all = [account("1"), account("2")];
  expect(usualInto(all, [], "export.csv", unnamed, "2")).toEqual({ kind: "account", id: "2" });
  expect(usualInto(all, [], "export.csv", unnamed, "gone")).toMatchObject({ kind: "new" });
});

it("goes into the account of the same number, and offers no other", () => {
  const all = [account("1", "3000"), account("2", "4111")];
  const told = { mask: "4111", institution_name: null };
  expect(usualInto(all, [], "a.csv", told, null)).toEqual({ kind: "account", id: "2" });
  expect(usualInto(all, [], "a.csv", { ...told, mask: "9999" }, "1")).toMatchObject({ kind: "new" });
  expect(usualInto([account("1")], [], "Account 1.csv", unnamed, null)).toMatchObject({ kind: "new" });
});

it("offers no account of another bank, even of the same number", () => {
  const told = { mask: "3000", institution_name: "Sparkasse" };
  const offered = (name: string) =>
    usualInto([account("1", "3000")], [{ ...bank(name, "csv"), id: "Harbourcsv" }], "a.csv", told, null);
  expect(offered("Harbour")).toMatchObject({ kind: "new", name: "Sparkasse 3000", bank: "Sparkasse" });
  expect(offered("Sparkasse Nord")).toEqual({ kind: "account", id: "1" });
});

it("calls a new account after the file if no bank is known", () => {
  expect(usualInto([], [], "Joint_May.csv", unnamed, null)).toMatchObject({ kind: "new", name: "Joint May", bank: "" });
});

it("says what a new account still wants", () => {
  const into = { kind: "new", name: "Joint", bank: "Harbour", currency: "EUR", type: "depository" } as const;
  expect(wanting(into)).toBe("");
  expect(wanting({ ...into, name: " " })).toContain("account");
  expect(wanting({ ...into, bank: "" })).toContain("bank");
  expect(wanting({ ...into, currency: "euro" })).toContain("three-letter");
});
