import { expect, it } from "vitest";
import { daysWord, period } from "./period";

it("finds the quarter and the year of a month", () => {
  expect(period("quarter", "2026-11")).toMatchObject({
    name: "October – December 2026",
    short: "Q4 2026",
    from: "2026-10-01",
    to: "2026-12-31",
    before: "2026-07",
    after: "2027-01",
  });
  expect(period("year", "2026-11")).toMatchObject({ name: "2026", from: "2026-01-01", before: "2025-01" });
  expect(period("month", "2026-02")).toMatchObject({ name: "February 2026", short: "Feb 2026", to: "2026-02-28" });
});

it("says which days were compared", () => {
  expect(daysWord("2026-10-01", "2026-10-31", "2026-11-16")).toBe("October 2026");
  expect(daysWord("2026-10-01", "2026-10-16", "2026-11-16")).toBe("1 Oct – 16 Oct");
  expect(daysWord("2026-10-01", "2026-10-01", "2026-11-01")).toBe("1 Oct");
  expect(daysWord("2025-01-01", "2025-12-31", "2026-11-16")).toBe("2025");
  expect(daysWord("2025-10-01", "2025-12-31", "2026-11-16")).toBe("October – December 2025");
});
