import { expect, it } from "vitest";
import { frequencies } from "./frequency";

const words = (least: number, own?: number) => frequencies(least, own).options.map(([, text]) => text);

it("offers nothing below a provider’s minimum", () => {
  expect(words(15)).toEqual([
    "Household default",
    "Every hour",
    "Every 4 hours",
    "Every 12 hours",
    "Once a day",
    "Once a week",
  ]);
  expect(words(360)).toEqual(["Household default", "Every 6 hours", "Every 12 hours", "Once a day", "Once a week"]);
});

it("shows what is in force", () => {
  expect(frequencies(15, 1800).value).toBe("1800");
  expect(words(15, 1800)).toContain("Every 30 minutes");
  expect(frequencies(360, 3600).value).toBe("21600");
  expect(frequencies(360, 86400).value).toBe("86400");
  expect(frequencies(360, null).value).toBe("");
});
