import { expect, it, vi } from "vitest";
import { add, cents, compact, dollars, money, parts, plainRate, rounded, sum, text } from "./money";

it("reads what the API sends, exactly", () => {
  expect(cents(0.1) + cents(0.2)).toBe(30n);
  expect(cents(9_999_999_999.99)).toBe(999_999_999_999n);
  expect(cents(-0.05)).toBe(-5n);
  expect(cents("12.50")).toBe(1250n);
  expect(cents(7)).toBe(700n);
  expect(() => cents(1e21)).toThrow();
  expect(() => cents(0.001)).toThrow();
});

it("writes what it read", () => {
  for (const s of ["0.00", "-0.01", "12.50", "9999999999.99"]) expect(text(cents(s))).toBe(s);
});

it("adds by currency and never across", () => {
  const rows = [
    { amount: 0.1, iso_currency_code: "EUR" },
    { amount: 0.2, iso_currency_code: "EUR" },
    { amount: 5, iso_currency_code: "SEK" },
  ];
  expect([...add(sum(rows), "SEK", 1n)]).toEqual([
    ["EUR", 30n],
    ["SEK", 501n],
  ]);
});

it("shows a currency as people write it", () => {
  expect(money(-123456n, "EUR")).toBe("−€1,234.56");
  expect(money(500n, "JPY")).toBe("JP¥5");
  expect(rounded(123456n, "EUR")).toBe("€1,235");
  expect(parts(123456n, "EUR")).toEqual(["€1,234", ".56"]);
  expect(money(100n, "??")).toBe("1.00");
});

it("says what a model cost, however little", () => {
  expect([0, 0.000042, 0.0123, 1.5].map(dollars)).toEqual(["US$0.00", "US$0.000042", "US$0.01", "US$1.50"]);
});

it("writes a rate out, and an axis of what is no currency", () => {
  expect([0.000000001, 0.00000012, 1.08, 151.2].map(plainRate)).toEqual(["0.000000001", "0.00000012", "1.08", "151.2"]);
  expect([compact(1234500n, "EUR"), compact(1234500n, "??")]).toEqual(["€12.3k", "12.3k"]);
  expect([compact(50n, "EUR"), compact(99_999n, "EUR"), compact(-486_480n, "EUR")]).toEqual(["€0.5", "€1k", "−€4.9k"]);
});

it("writes thousands out where a language has no short form of them", async () => {
  vi.resetModules();
  vi.doMock("./locale", () => ({ locale: "de-DE", moneyLocale: () => "de-DE" }));
  const german = await import("./money");
  vi.doUnmock("./locale");
  const say = (n: bigint) => german.compact(n, "EUR").replaceAll(/\s/g, " ");
  expect([437_280n, 123_456_700n, 20n].map(say)).toEqual(["4.373 €", "1,2 Mio. €", "0,2 €"]);
});
