import { expect, it } from "vitest";
import type { CashflowCurrency } from "#/api/cashflow";
import { flowOf, middleOf, middleWord, searchOf } from "./flow";

const all = { id: "all", kind: "account", name: "All accounts", amount: 30 } as const;
const pay = {
  id: "income:income",
  kind: "income",
  name: "Income",
  category: "income",
  amount: 30,
  parts: [
    { category: "income_salary", name: "Salary", amount: 20.1 },
    { category: "income_gifts", name: "Gifts", amount: 9.9 },
  ],
} as const;
const flow = (nodes: unknown[], links: unknown[]) => ({ iso_currency_code: "EUR", nodes, links }) as CashflowCurrency;
const links = [
  { source: "income:income", target: "all", amount: 30 },
  { source: "all", target: "saved", amount: 30 },
];
const saved = { id: "saved", kind: "saved", name: "Saved", amount: 30 } as const;

it("shows income by what it is, and keeps the sum", () => {
  const { spots, ribbons } = flowOf(flow([pay, all, saved], links), () => 0);
  expect(spots.map((s) => s.name)).toEqual(["Salary", "Gifts", "All accounts", "Saved"]);
  expect(ribbons.filter((r) => r.target === "all").map((r) => r.amount)).toEqual([2010n, 990n]);
});

it("keeps income whole if a part flows back, or if it goes to more than one account", () => {
  const back = {
    ...pay,
    parts: [
      { ...pay.parts[0], amount: 40 },
      { ...pay.parts[1], amount: -10 },
    ],
  };
  expect(flowOf(flow([back, all, saved], links), () => 0).spots[0]).toMatchObject({ id: "income:income" });
  const two = [pay, { ...all, id: "a", account_id: "a" }, { ...all, id: "b", account_id: "b" }, saved];
  expect(flowOf(flow(two, []), () => 0).spots[0]).toMatchObject({ id: "income:income" });
});

it("knows which payments are behind a place", () => {
  const accounts = new Map([["uuid", "Giro1234"]]);
  expect(searchOf("income:income/income_salary", accounts)).toEqual({ category: "income_salary" });
  expect(searchOf("category:food_and_drink", accounts)).toEqual({ category: "food_and_drink" });
  expect(searchOf("uncategorized:income", accounts)).toEqual({ uncategorized: true, direction: "in" });
  expect(searchOf("uncategorized:category", accounts)).toEqual({ uncategorized: true, direction: "out" });
  expect(searchOf("uuid", accounts)).toEqual({ account: "Giro1234" });
  expect(searchOf("saved", accounts)).toBeUndefined();
});

it("says in the middle what flows through it, and what was deducted", () => {
  const spot = (id: string, amount: bigint, side: "in" | "out") => ({ id, name: id, amount, side });
  const flow = {
    spots: [spot("salary", 6325n, "in"), spot("rent", 510n, "in"), spot("home", 6835n, "out")],
    ribbons: [],
  };
  expect(middleOf(flow, 6964n)).toEqual({ all: 6835n, saved: false, refunds: 129n });
  const short = { spots: [...flow.spots, spot("drawn", 100n, "in")], ribbons: [] };
  expect(middleOf(short, 6835n)).toEqual({ all: 6935n, saved: true, refunds: 0n });
  expect(middleWord({ saved: false }, "€1")).toBe("Money in €1");
});
