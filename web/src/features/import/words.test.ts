import { expect, it } from "vitest";
import { ApiError } from "#/api/client";
import { importSummary, refusalOf, sureness, warningOf } from "./words";

const read = { amount_sign: "negative_out", date_format: "DD/MM/YYYY", decimal_separator: "." };
const imported = {
  action: "imported",
  of_action: null,
  subject: { kind: "transaction" },
  count: 214,
  with: {},
  payee: null,
  actor_type: "user",
  actor_id: "1",
  actor_name: "Robin",
  cause: "import",
  summary: "A sentence that nobody reads",
};
const warn = (code: string) => ({ code, message: "x; set amount_sign if it is not" });

it("names what is on the screen, and no field of the API", () => {
  for (const code of ["sign_inferred", "sign_ambiguous", "decimal_ambiguous", "date_order_ambiguous"])
    expect(warningOf(warn(code), read)).not.toMatch(/_|mapping/);
  expect(warningOf(warn("date_order_ambiguous"), read)).toContain("31/12/2025");
  expect(warningOf({ code: "app_export", message: "the file is an export" }, read)).toBe("The file is an export.");
});

it("describes an import by its data, with the file and the account as far as they are known", () => {
  const by = (x: object) => ({ ...imported, ...x }) as Parameters<typeof importSummary>[0];
  const into = { account: { id: "0", short_id: "0", name: "Girokonto" } };
  expect(importSummary(by({ with: into }), "statement.csv", "Girokonto")).toBe(
    "Robin imported 214 transactions into “Girokonto” · statement.csv",
  );
  expect(importSummary(by({ with: into, payee: "HARBOUR TEA 0" }), "tea.csv", "Girokonto")).toBe(
    "Robin imported 214 transactions into “Girokonto” · tea.csv",
  );
  expect(importSummary(by({}), "two.csv", undefined)).toBe("Robin imported 214 transactions · two.csv");
  expect(importSummary(by({}), null, "Girokonto")).toBe("Robin imported 214 transactions · Girokonto");
  expect(importSummary(by({ subject: { kind: "category" }, count: 3 }), null, undefined)).toBe(
    "Robin imported 3 categories",
  );
});

it("is not sure of what it asks to check", () => {
  expect(sureness({ confidence: "medium", format_name: null, warnings: [] }).words).toBe("likely");
  expect(sureness({ confidence: "medium", format_name: null, warnings: [warn("sign_inferred")] })).toEqual({
    level: "low",
    words: "check this",
  });
  expect(sureness({ confidence: "high", format_name: "Nordbank", warnings: [] }).words).toBe("Nordbank");
  expect(sureness({ confidence: "low", format_name: "Nordbank", warnings: [] }).words).toBe("Nordbank, check this");
});

it("says why a file is refused", () => {
  const e = (field: string) => new ApiError(400, "INVALID", `${field}: no`, "", [{ field, message: "no" }]);
  expect(refusalOf(e("csv"))).toBe("This file is empty.");
  expect(refusalOf(e("mapping.date"))).toContain("date column");
  expect(refusalOf(new ApiError(413, "TOO_LARGE", "the file is too large"))).toBe("The file is too large.");
});
