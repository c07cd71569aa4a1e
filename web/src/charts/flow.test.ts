import { expect, it } from "vitest";
import { type Flow, fold, layout, moves, type Spot } from "./flow";

const into = (id: string, amount: bigint): Spot => ({ id, name: id, amount, side: "in" });
const out = (id: string, amount: bigint): Spot => ({ id, name: id, amount, side: "out" });
const hub = (amount: bigint): Spot => ({ id: "hub", name: "hub", amount, side: "mid" });
const through = (spots: Spot[]): Flow => ({
  spots,
  ribbons: spots
    .filter((s) => s.side !== "mid")
    .map((s) =>
      s.side === "in"
        ? { source: s.id, target: "hub", amount: s.amount }
        : { source: "hub", target: s.id, amount: s.amount },
    ),
});

it("folds what is too thin to see, and keeps the sum", () => {
  const all = through([
    into("pay", 130300n),
    hub(130300n),
    out("saved", 1n),
    out("rent", 99999n),
    out("food", 30000n),
    out("a", 100n),
    out("b", 200n),
    out("none", 0n),
  ]);
  const { spots, ribbons } = fold(all, { in: 5, out: 8 });
  const right = spots.filter((s) => s.side === "out");
  expect(right.map((s) => s.name)).toEqual(["rent", "food", "Other (2)", "saved"]);
  expect(right.reduce((n, s) => n + s.amount, 0n)).toBe(130300n);
  expect(ribbons.find((r) => r.target === "other:out")?.amount).toBe(300n);
  expect(ribbons).toHaveLength(5);
});

it("folds past the first so many, but never one alone", () => {
  const names = (limit: number, ...amounts: bigint[]) =>
    fold(through(amounts.map((a, i) => out(`s${i}`, a))), { in: 5, out: limit }).spots.map((s) => s.id);
  expect(names(2, 5n, 3n, 2n, 1n)).toEqual(["s0", "s1", "other:out"]);
  expect(names(8, 100000n, 1n)).toEqual(["s0", "s1"]);
});

it("places three columns, and accounts between", () => {
  const flow: Flow = {
    spots: [
      into("pay", 1000n),
      { ...hub(600n), id: "giro" },
      { ...hub(400n), id: "card" },
      out("rent", 600n),
      out("food", 400n),
    ],
    ribbons: [
      { source: "pay", target: "giro", amount: 600n },
      { source: "pay", target: "card", amount: 400n },
      { source: "giro", target: "rent", amount: 600n },
      { source: "card", target: "food", amount: 400n },
    ],
  };
  const { nodes, links } = layout(flow, 600, 300, 120);
  expect(nodes.map((n) => (n as { layer?: number }).layer)).toEqual([0, 1, 1, 2, 2]);
  expect(links).toHaveLength(4);
});

it("draws nothing where nothing moved", () => {
  const still = fold(through([into("pay", 0n), hub(0n), out("rent", 0n)]), { in: 5, out: 8 });
  expect(moves(still)).toBe(false);
  expect(layout(still, 600, 300, 120)).toEqual({ nodes: [], links: [] });
  expect(layout({ spots: [], ribbons: [] }, 600, 300, 120)).toEqual({ nodes: [], links: [] });
});

it.each([
  ["only in", [into("pay", 5n), hub(5n)]],
  ["only out", [hub(5n), out("rent", 5n)]],
])("draws a flow with %s", (_, spots) => {
  const { nodes } = layout(through(spots), 600, 300, 120);
  expect(nodes).toHaveLength(2);
  for (const n of nodes) expect([n.x0, n.x1, n.y0, n.y1].every(Number.isFinite)).toBe(true);
});

it("leaves out a ribbon whose end is not drawn", () => {
  const flow = through([into("pay", 5n), hub(5n), out("rent", 5n)]);
  const { nodes, links } = layout(
    { ...flow, ribbons: [...flow.ribbons, { source: "gone", target: "rent", amount: 3n }] },
    600,
    300,
    120,
  );
  expect([nodes.length, links.length]).toEqual([3, 2]);
});
