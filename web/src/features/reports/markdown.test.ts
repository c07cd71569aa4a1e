import { expect, it } from "vitest";
import { type Block, inline, opening, read, within } from "./markdown";

const kinds = (text: string) => read(text).map((b) => b.kind);

it("knows the parts of a report", () => {
  const text =
    "# A\n\nwords\nand more\n\n- x\n- y\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n> said\n\n---\n\n```\ncode | <b>\n```\n";
  expect(kinds(text)).toEqual(["heading", "text", "list", "table", "quote", "line", "code"]);
});

it("joins lines of a paragraph, and parts emphasis from text", () => {
  expect(read("You spent **a\nlot** of _it_")).toEqual([
    {
      kind: "text",
      of: ["You spent ", { kind: "strong", of: ["a lot"] }, " of ", { kind: "em", of: ["it"] }],
    },
  ]);
  expect(inline("snake_case_names and 2 * 3 * 4 stay")).toEqual(["snake_case_names and 2 * 3 * 4 stay"]);
  expect(inline("\\*not\\* and `a *b*`")).toEqual(["*not* and ", { kind: "code", text: "a *b*" }]);
  expect(inline("***both***")).toHaveLength(1);
});

it("nests lists and knows what is ticked", () => {
  const [l] = read("1. one\n   - [x] done\n   - [ ] open\n2. two") as [Extract<Block, { kind: "list" }>];
  expect(l.first).toBe(1);
  expect(l.items).toHaveLength(2);
  const inner = l.items[0]?.of[1];
  expect(inner?.kind === "list" && inner.items.map((i) => i.done)).toEqual([true, false]);
});

it("reads a table with figures at the right, and rows that are too short or too long", () => {
  const [t] = read("a | b\n--|--:\n1\n") as Block[];
  expect(t?.kind).toBe("table");
  const [u] = read("| a | b |\n|---|---:|\n| 1 | 2 | 3 |\n| 4 |\n| x \\| y | z |") as [
    Extract<Block, { kind: "table" }>,
  ];
  expect(u.num).toEqual([1]);
  expect(u.rows).toEqual([
    [["1"], ["2"]],
    [["4"], []],
    [["x | y"], ["z"]],
  ]);
});

it("leads only to this app", () => {
  expect(within("/transactions?search=rewe")).toBe("/transactions?search=rewe");
  for (const to of [
    "//evil.example",
    "/\\evil.example",
    "javascript:alert(1)",
    "https:evil",
    "data:text/html,x",
    "review",
  ])
    expect(within(to)).toBeNull();
  expect(inline("[there](javascript:alert(1))")).not.toContainEqual(expect.objectContaining({ kind: "link" }));
  expect(inline("[page](data:text/html,x)")).toEqual(["page", " (data:text/html,x)"]);
});

it("leaves markup of other kinds as text", () => {
  expect(read("<script>alert(1)</script>")).toEqual([{ kind: "text", of: ["<script>alert(1)</script>"] }]);
  expect(read("![x](/icon.svg)")[0]).toEqual({
    kind: "text",
    of: ["!", { kind: "link", of: ["x"], to: "/icon.svg" }],
  });
});

/** The least processor time of several runs. Other programs on the machine do not affect it. */
function least(work: () => void, runs = 3): number {
  const times = Array.from({ length: runs }, () => {
    const from = process.cpuUsage();
    work();
    return process.cpuUsage(from).user;
  });
  return Math.min(...times);
}

/**
 * Whether the time grows with the text: eight times the text may take 30 times as long, but not 64 times. Very short
 * times always pass.
 */
const grows = (small: number, large: number) => large < 100_000 || large < small * 30;

it.each([
  ["stars", (n: number) => "*a ".repeat(n)],
  ["brackets", (n: number) => "[".repeat(n)],
  ["backticks", (n: number) => "`".repeat(n)],
  ["quotes", (n: number) => "> ".repeat(n)],
  ["bullets", (n: number) => "- ".repeat(n)],
  ["a table", (n: number) => "|".repeat(n).concat("\n", "|-".repeat(n / 2))],
  ["underlines", (n: number) => "__a".repeat(n)],
  ["hashes", (n: number) => "#".repeat(n)],
  ["items", (n: number) => "  - x\n".repeat(n)],
  ["backslashes", (n: number) => "\\".repeat(n + 1)],
])("takes hostile texts of %s in time that grows with their length", (_, text) => {
  const [small, large] = [text(5_000), text(40_000)];
  expect(
    grows(
      least(() => read(small)),
      least(() => read(large)),
    ),
  ).toBe(true);
});

it("notices time that grows faster than a text", () => {
  expect(grows(10_000, 640_000)).toBe(false);
  expect(grows(100_000, 900_000)).toBe(true);
});

it("takes the first words for a list", () => {
  expect(opening("# Title\n\nYou spent **€3** on `bread`.\n\nMore")).toBe("You spent €3 on bread.");
});
