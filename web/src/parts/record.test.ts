import { expect, it } from "vitest";
import { recordOf } from "./record";

const record = (kept: number, corrected = 0, reverted = 0, open = 0) => ({
  decisions: kept + corrected + reverted + open,
  kept,
  corrected,
  reverted,
  open,
});

it("says what people kept and changed, and no percentage", () => {
  expect(recordOf(undefined)).toBeNull();
  expect(recordOf(record(0))).toBe("no track record yet");
  expect(recordOf(record(212))).toBe("212 of 212 kept");
  expect(recordOf(record(180, 3, 2))).toBe("180 of 185 kept");
  expect(recordOf(record(1, 1, 1))).toBe("2 of 3 corrected");
  expect(recordOf(record(0, 1, 0, 29))).toBe("1 of 1 corrected, 29 not reviewed yet");
  expect(recordOf(record(0, 0, 0, 30))).toBe("30 changes, none reviewed yet");
});
