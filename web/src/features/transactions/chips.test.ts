import { expect, it } from "vitest";
import { chipsOf, daysName, type Names } from "./chips";

const names: Names = {
  category: (c) => c.toUpperCase(),
  account: (a) => `account ${a}`,
  person: (p) => `person ${p}`,
  payee: "Rewe",
  today: "2026-11-17",
};

it("has a chip for each filter, and the address without it", () => {
  const all = chipsOf(
    {
      search: "x",
      open: "y",
      from: "2026-11-01",
      to: "2026-11-17",
      amount: "50..100",
      category: "a,b",
      tag: "t,u",
      payee: "k",
      counterparty: "none",
      person: "p",
      account: "z",
      pending: false,
      filed: "rule",
    },
    names,
  );
  expect(all.map((c) => `${c.kind}: ${c.label}`)).toEqual([
    "Dates: 1 Nov – 17 Nov",
    "Amount: 50 – 100",
    "Category: A",
    "Category: B",
    "Tag: #t",
    "Tag: #u",
    "Payee: Rewe",
    "Person: person p",
    "Account: account z",
    "Status: Posted",
    "Status: Categorized by a rule",
  ]);
  expect(all[2]?.off).toEqual({ category: "b" });
  expect(all[6]?.off).toEqual({
    payee: undefined,
    counterparty: undefined,
    similar: undefined,
    recurring: undefined,
  });
  expect(chipsOf({ search: "rewe", open: "y" }, names)).toEqual([]);
  expect(chipsOf({ similar: "k" }, { ...names, payee: undefined })[0]?.label).toBe("One payee");
});

it("names days by one end or both", () => {
  expect(daysName({ from: "2026-11-01" }, names.today)).toBe("from 1 Nov");
  expect(daysName({ to: "2025-12-31" }, names.today)).toBe("until 31 Dec 2025");
  expect(daysName({ from: "2026-11-01", to: "2026-11-01" }, names.today)).toBe("1 Nov");
  expect(daysName({}, names.today)).toBe("");
});
