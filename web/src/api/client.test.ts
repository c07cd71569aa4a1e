import { expect, it } from "vitest";
import { earlier } from "./client";

it("keeps an answer until the next one only if the question was the same", () => {
  const keep = earlier<{ by: string }>((q) => q.by === "payee");
  const rows = ["rows"];
  expect(keep(rows, { queryKey: ["totals", { by: "payee" }] })).toBe(rows);
  expect(keep(rows, { queryKey: ["totals", { by: "account" }] })).toBeUndefined();
  expect(keep(rows, undefined)).toBeUndefined();
});
