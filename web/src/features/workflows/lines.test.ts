import { expect, it } from "vitest";
import { linesOf } from "#/api/workflows";
import { entriesOf, entryOf, pretty } from "./lines";

const at = "2026-11-16T09:00:00Z";
const line = (kind: string, more: object = {}) => ({ seq: 1, at, kind, ...more });

it("reads lines of JSON, and leaves out what is none", () => {
  const text = `${JSON.stringify(line("note", { text: "a" }))}\n\n{"seq":2,\n${JSON.stringify(line("end"))}\n`;
  expect(linesOf(text).map((l) => l.kind)).toEqual(["note", "end"]);
  expect(linesOf(undefined)).toEqual([]);
});

it("says what was asked and what came back", () => {
  const call = entryOf(
    line("tool_call", {
      tool: "query_transactions",
      route: "refused",
      why: "delete_category is not its own",
      arguments: { a: 1 },
    }),
  );
  expect(call.title).toBe("Tool call: query transactions");
  expect([call.text, call.badge?.[0], call.more]).toEqual([
    "Delete category is not its own.",
    "Not allowed",
    '{\n  "a": 1\n}',
  ]);
  expect(entryOf(line("tool_result", { is_error: true, content: "no" })).title).toBe("Tool error");
  expect(entryOf(line("assistant", { text: "<b>Hi</b>", calls: [] })).text).toBe("<b>Hi</b>");
  expect(entryOf(line("limit", { limit: "max_turns", most: 12 })).title).toContain("12 turns");
});

it("says what an answer cost, unless amounts are hidden or it is not known", () => {
  const l = line("usage", { turn: 2, input_tokens: 1200, output_tokens: 1, cost_usd: 0.02, took_ms: 3100 });
  expect(entryOf(l).title).toBe("Response 2: US$0.02, 1,200 tokens in, 1 token out, 3 seconds");
  expect(entryOf(l, { hidden: true }).title).not.toContain("$");
  expect(entryOf({ ...l, cost_usd: null }).title).toContain("cost unknown");
});

it("says what a run works on", () => {
  const work = entryOf(line("worklist", { rows: [["a"], ["b"]], known: 1 }));
  expect([work.title, work.text]).toEqual([
    "2 transactions to decide",
    "Skipped 1 unchanged transaction from earlier runs.",
  ]);
  expect(entryOf(line("worklist", { rows: [["a", "b"], ["c"]], known: 0 })).title).toBe(
    "3 transactions to decide, in 2 rows",
  );
  expect(entryOf(line("worklist", { rows: [], known: 0 })).title).toBe("Nothing to decide");
});

it("says what became of the rows of a batch, with their payees", () => {
  const rows = [
    { row: 1, transactions: ["t1"], outcome: "filed", category: "food", tags: ["trip"], note: "as before" },
    { row: 2, transactions: ["t2", "t3"], outcome: "unsure", category: "food", note: "could be rent" },
    { row: 3, transactions: ["t4"], outcome: "rejected", held: ["category", "tag:needs-review"] },
  ];
  const text = 'Rows:\n{"row":1,"name":"Bakery <b>"}\n{"row":2,"name":"Post","times":2}\n{"row":3,\nEnd.';
  const entries = entriesOf([line("user", { sheet: 2, rows: [1, 2, 3], text }), line("decided", { sheet: 2, rows })], {
    category: (s) => s.toUpperCase(),
  });
  expect(entries[0]?.title).toBe("Prompt: batch 2, 3 rows");
  expect(entries[1]?.title).toBe("Batch 2: 1 categorized, 1 left for you, 1 not allowed");
  expect(entries[1]?.rows).toEqual([
    { row: 1, id: "t1", name: "Bakery <b>", what: "Categorized: FOOD, tag trip", why: "as before" },
    { row: 2, id: "t2", name: "Post, 2 transactions", what: "Not sure, left for you: FOOD", why: "could be rent" },
    { row: 3, id: "t4", name: "Row 3", what: "Not allowed (locked: category, tag needs-review)", why: undefined },
  ]);
  expect(entryOf(line("decided", { sheet: 1, wrong_code: true })).title).toBe("Batch 1: response rejected");
});

it("says how a run ended", () => {
  const end = entryOf(line("end", { status: "failed", message: "the model is gone", changes: 2, left_open: 1 }));
  expect([end.title, end.text]).toEqual([
    "Finished: Failed",
    "The model is gone. 2 changes made. 1 transaction left for you.",
  ]);
});

it("shows what it does not know, and cuts what is endless", () => {
  expect(entryOf(line("surprise_me")).title).toBe("surprise me");
  expect(entryOf(line("tool_result", { content: "x".repeat(30_000) })).more).toMatch(/and 10,000 more characters$/);
  expect(pretty('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
});
