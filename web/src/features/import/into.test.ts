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

it("goes where such files went before", () => {
  const account = (id: string, name: string) => ({ id, name, display_name: null }) as Account;
  const all = [account("1", "Joint"), account("2", "Savings pot")];
  expect(usualInto(all, "export.csv", "", "2")).toEqual({ kind: "account", id: "2" });
  expect(usualInto(all, "export.csv", "", "gone")).toEqual({ kind: "none" });
  expect(usualInto(all, "2026_savings-pot.csv", "")).toEqual({ kind: "account", id: "2" });
  expect(usualInto(all, "joint and savings pot.csv", "")).toEqual({ kind: "none" });
  expect(usualInto([], "Joint_May.csv", "EUR")).toMatchObject({ kind: "new", name: "Joint May" });
});

it("says what a new account still wants", () => {
  const into = { kind: "new", name: "Joint", bank: "Harbour", currency: "EUR", type: "depository" } as const;
  expect(wanting(into)).toBe("");
  expect(wanting({ ...into, name: " " })).toContain("account");
  expect(wanting({ ...into, bank: "" })).toContain("bank");
  expect(wanting({ ...into, currency: "euro" })).toContain("three letters");
});
