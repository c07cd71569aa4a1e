import { i18n } from "@lingui/core";
import { expect, it } from "vitest";
import { amountFrom, amountName, presets, rangeOf } from "./limits";

it("knows the spans that people ask for", () => {
  const at = (name: string, today: string) => presets(today).find((p) => i18n._(p.name) === name)?.days;
  expect(at("This month", "2026-02-10")).toEqual({ from: "2026-02-01", to: "2026-02-28" });
  expect(at("Last month", "2026-01-31")).toEqual({ from: "2025-12-01", to: "2025-12-31" });
  expect(at("Last 30 days", "2026-03-01")).toEqual({ from: "2026-01-31", to: "2026-03-01" });
  expect(at("Last 90 days", "2026-11-17")).toEqual({ from: "2026-08-20", to: "2026-11-17" });
  expect(at("Last year", "2026-03-01")).toEqual({ from: "2025-01-01", to: "2025-12-31" });
  expect(at("All time", "2026-03-01")).toEqual({ from: undefined, to: undefined });
});

it("reads amounts as people type them, and writes them as the API takes them", () => {
  const from = (f: string, t: string, exact = "") => amountFrom({ from: f, to: t, exact });
  expect(from("", "")).toBeUndefined();
  expect(from("50", "")).toBe("50..");
  expect(from("", "100,50")).toBe("..100.50");
  expect(from("100", "50")).toBe("50..100");
  expect(from("20", "20")).toBe("20");
  expect(from("1", "2", "-75,05")).toBe("75.05");
  expect(from("much", "")).toBeUndefined();
});

it("shows the ends again", () => {
  expect(rangeOf(undefined)).toEqual({ from: null, to: null });
  expect(rangeOf("75.05")).toEqual({ from: 7505n, to: 7505n });
  expect(rangeOf("50..100")).toEqual({ from: 5000n, to: 10000n });
  expect(rangeOf("..100")).toEqual({ from: null, to: 10000n });
  expect(rangeOf(">100")).toBeNull();
  expect(["75.05", "50..100", "50..", "..100", ">100"].map(amountName)).toEqual([
    "75.05",
    "50 – 100",
    "≥ 50",
    "≤ 100",
    ">100",
  ]);
});
