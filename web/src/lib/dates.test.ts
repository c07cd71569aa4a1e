import { expect, it } from "vitest";
import { ahead, dayHead, dayInMonth, dayOfWeek, dayShort, daysIn, lastDay, moment, monthName, shift } from "./dates";

it("walks through months", () => {
  expect(shift("2026-01", -1)).toBe("2025-12");
  expect(shift("2026-11", 2)).toBe("2027-01");
  expect(daysIn("2028-02")).toBe(29);
  expect(lastDay("2026-04")).toBe("2026-04-30");
  expect(monthName("2026-11")).toBe("November 2026");
});

it("says days as people do", () => {
  expect(dayInMonth("2026-11-14")).toBe("Sat 14");
  expect(dayOfWeek("2026-11-14", "2026-12-01")).toBe("Sat 14 Nov");
  expect(dayShort("2026-11-14", "2026-12-01")).toBe("14 Nov");
  expect(dayShort("2025-11-14", "2026-12-01")).toBe("14 Nov 2025");
});

it("gives the time only of today and yesterday", () => {
  const now = new Date(2026, 10, 15, 18, 0);
  expect(moment(new Date(2026, 10, 15, 8, 15).toISOString(), now)).toBe("08:15");
  expect(moment(new Date(2026, 10, 14, 8, 15).toISOString(), now)).toBe("yesterday at 08:15");
  expect(moment(new Date(2026, 10, 1, 8, 15).toISOString(), now)).toBe("1 Nov");
  expect(dayHead("2026-11-15", now)).toBe("Today, Sunday 15 November");
  expect(dayHead("2025-11-15", now)).toBe("Saturday 15 November 2025");
});

it("says when something will be", () => {
  const now = new Date(2026, 10, 16, 9, 30);
  const at = (d: number, h: number) => ahead(new Date(2026, 10, d, h).toISOString(), now);
  expect([at(16, 18), at(17, 7), at(23, 7)]).toEqual(["today at 18:00", "tomorrow at 07:00", "Mon 23 Nov at 07:00"]);
});
