import { expect, it } from "vitest";
import { balance, fold, layout } from "./flow";

const s = (id: string, amount: bigint) => ({ id, name: id, amount });

it("folds what is too thin to see, and keeps the sum", () => {
  const all = [s("rent", 100000n), s("food", 30000n), s("a", 100n), s("b", 200n), s("none", 0n)];
  const folded = fold(all, 8);
  expect(folded.map((x) => x.name)).toEqual(["rent", "food", "Other, 2 smaller"]);
  expect(folded.reduce((n, x) => n + x.amount, 0n)).toBe(130300n);
  expect(fold([s("a", 5n), s("b", 3n), s("c", 2n), s("d", 1n)], 2).map((x) => x.id)).toEqual(["a", "b", "other"]);
});

it("does not fold one alone", () => {
  expect(fold([s("rent", 100000n), s("thin", 1n)], 8).map((x) => x.id)).toEqual(["rent", "thin"]);
});

it("makes both sides equal", () => {
  expect(balance([s("pay", 10n)], [s("rent", 7n)]).targets.at(-1)).toMatchObject({ id: "left", amount: 3n });
  expect(balance([s("pay", 5n)], [s("rent", 7n)]).sources.at(-1)).toMatchObject({ id: "drawn", amount: 2n });
  expect(balance([s("pay", 7n)], [s("rent", 7n)]).sources).toHaveLength(1);
});

it("places three columns", () => {
  const { nodes, links } = layout([s("pay", 1000n)], [s("rent", 600n), s("food", 400n)], 600, 300, 120);
  expect(nodes.map((n) => n.depth)).toEqual([0, 1, 2, 2]);
  expect(links).toHaveLength(3);
});
