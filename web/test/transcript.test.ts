import { expect, it } from "vitest";
import record from "../../internal/agents/workflow/record.go?raw";
import { entryOf } from "../src/features/workflows/lines";

it("has words for every kind of line that the server writes", () => {
  const kinds = [...record.matchAll(/\bLine\w+\s+= "(\w+)"/g)].map((m) => m[1] as string);
  expect(kinds.length).toBeGreaterThan(10);
  const at = "2026-11-16T09:00:00Z";
  for (const kind of kinds) {
    const { title } = entryOf({ seq: 1, at, kind, status: "succeeded", text: "a" });
    expect(title, kind).not.toBe(kind.replaceAll("_", " "));
  }
  expect(entryOf({ seq: 1, at, kind: "of_tomorrow" }).title).toBe("of tomorrow");
});
