import { expect, it } from "vitest";
import { type BankProvider, fitting, linkable } from "./providers";

const provider = (name: string, countries: string[], fields: number, configured: boolean) =>
  ({ name, countries, configured, kind: "token", link: {}, fields: Array(fields).fill({}) }) as unknown as BankProvider;
const names = (all: BankProvider[]) => all.map((p) => p.name);

const fresh = [
  provider("plaid", ["US"], 2, false),
  provider("simplefin", ["US", "CA"], 0, true),
  provider("enablebanking", ["DE", "GB"], 2, false),
];

it("begins with what reads banks in the region", () => {
  expect(names(fitting(fresh, "CA"))).toEqual(["simplefin"]);
  expect(names(fitting(fresh, "GB"))).toEqual([]);
  expect(names(linkable(fresh, "GB"))).toEqual(["simplefin"]);
});

it("keeps what an admin has set up, after what reads banks in the region", () => {
  const set = fresh.map((p) => ({ ...p, configured: true }));
  expect(names(fitting(set, "GB"))).toEqual(["enablebanking", "plaid"]);
  expect(names(fitting(set, "US"))).toEqual(["plaid", "simplefin", "enablebanking"]);
});
