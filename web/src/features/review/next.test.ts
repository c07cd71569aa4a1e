import { expect, it } from "vitest";
import { soonest } from "./next";

const bank = (institution_name: string, next_sync_at: string | null, x: object = {}) => ({
  institution_name,
  next_sync_at,
  paused: false,
  status: "active",
  ...x,
});
const now = new Date("2026-11-15T12:00:00Z");

it("finds the bank that syncs next", () => {
  expect(
    soonest(
      [
        bank("Late", "2026-11-15T18:00:00Z"),
        bank("Past", "2026-11-15T11:00:00Z"),
        bank("Paused", "2026-11-15T12:30:00Z", { paused: true }),
        bank("Soon", "2026-11-15T13:00:00Z"),
      ],
      now,
    ),
  ).toEqual({ at: "2026-11-15T13:00:00Z", bank: "Soon" });
  expect(soonest([bank("File", null)], now)).toBeNull();
});
