import { expect, it } from "vitest";
import { counted, every, retention, seconds, sendsWebhooks, zones } from "./words";

it("says how often", () => {
  expect([21_600, 86_400, 3600, 900, 90].map(every)).toEqual([
    "Every 6 hours",
    "Every day",
    "Every hour",
    "Every 15 minutes",
    "Every 90 seconds",
  ]);
});

it("shows a webhook address for providers that have webhooks only", () => {
  expect(sendsWebhooks({ capabilities: ["balances", "webhooks"] })).toBe(true);
  expect(sendsWebhooks({ capabilities: ["balances", "test"] })).toBe(false);
});

it("says for how long", () => {
  expect([null, 1, 365].map(retention)).toEqual(["Forever", "1 day", "365 days"]);
});

it("offers the zone that is set even if the browser does not know it", () => {
  expect(zones("Mars/Olympus")[0]).toBe("Mars/Olympus");
  expect(zones("Europe/Berlin").filter((z) => z === "Europe/Berlin")).toHaveLength(1);
});

it("says what a test of a model took", () => {
  expect(counted({ input_tokens: 8120, output_tokens: 40 })).toBe("8,120 in, 40 out");
  expect(counted({ input_tokens: null, output_tokens: null })).toBe("Not reported by the server");
  expect([20, 1000, 1260, 12_400].map(seconds)).toEqual(["0.1 seconds", "1 second", "1.3 seconds", "12 seconds"]);
});
