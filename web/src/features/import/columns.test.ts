import { expect, it } from "vitest";
import type { FilePreview } from "#/api/files";
import {
  dateOptions,
  exampleOf,
  isTable,
  lacking,
  mapped,
  meaningOf,
  outcome,
  settled,
  signFor,
  size,
} from "./columns";

it("gives each meaning one column, and each column one meaning", () => {
  const m = { date: 0, name: 1, amount: 3 };
  expect(mapped(m, 2, "name")).toEqual({ date: 0, amount: 3, name: 2 });
  expect(mapped(m, 1, "detail")).toEqual({ date: 0, amount: 3, detail: 1 });
  expect(mapped(m, 1, "")).toEqual({ date: 0, amount: 3 });
  expect(meaningOf(m, 1)).toBe("name");
  expect(meaningOf(m, 7)).toBe("");
});

it("follows the columns in how money out is told", () => {
  expect(signFor({ date: 0, debit: 1, credit: 2 }, "negative_out")).toBe("split");
  expect(signFor({ date: 0, amount: 1 }, "split")).toBe("negative_out");
  expect(signFor({ date: 0, amount: 1, flag: 2 }, "negative_out")).toBe("flag");
  expect(signFor({ date: 0, amount: 1 }, "positive_out")).toBe("positive_out");
});

it("sends no columns of a statement that describes itself", () => {
  const p = { columns: [], mapping: {}, encoding: "", header_row: null } as unknown as FilePreview;
  expect(isTable(p)).toBe(false);
  expect(settled(p)).toEqual({});
});

it("says what is missing", () => {
  expect(lacking({ amount: 1 })).toContain("date");
  expect(lacking({ date: 1 })).toContain("amount");
  expect(lacking({ date: 1, debit: 2 })).toBe("");
});

it("shows formats by an example", () => {
  expect(exampleOf("DD.MM.YY")).toBe("31.12.25");
  expect(dateOptions("DD/MM/YYYY")[0]).toEqual(["DD/MM/YYYY", "31/12/2025"]);
  expect(dateOptions("DD/MM/YYYY")).toHaveLength(7);
});

it("counts what would come in", () => {
  expect(outcome({ rows_total: 412, rows_rejected: 2, duplicates: 21 })).toEqual({ inserted: 389, known: 21, bad: 2 });
  expect(outcome({ rows_total: 3, rows_rejected: 0, duplicates: null }).inserted).toBe(3);
  expect([size(12), size(48_200), size(3_250_000)]).toEqual(["12 bytes", "48 kB", "3.3 MB"]);
});
