import { expect, it } from "vitest";
import { example, ownName, regions } from "./regions";

it("lists the regions of today by name", () => {
  const all = new Map(regions());
  expect([all.get("DE"), all.get("US"), all.get("GB"), all.get("XK")]).toEqual([
    "Germany",
    "United States",
    "United Kingdom",
    "Kosovo",
  ]);
  for (const gone of ["YU", "DD", "UK", "ZZ", "EU", "XA", "AQ"]) expect([gone, all.has(gone)]).toEqual([gone, false]);
  expect(all.size).toBeGreaterThan(240);
  expect([...all.values()][0]).toBe("Afghanistan");
});

it("calls a language by its own name", () => {
  expect(["en", "de", "fr"].map(ownName)).toEqual(["English", "Deutsch", "Français"]);
});

it("shows what a choice would look like", () => {
  const day = new Date(2026, 10, 18, 12);
  const one = (l: string, r: string, c: string) =>
    Object.values(example(l, r, c, day)).map((s) => s.replace(/\s/g, " "));
  expect(one("en", "US", "USD")).toEqual(["Nov 18, 2026", "$1,234.50", "Sunday"]);
  expect(one("en", "GB", "GBP")).toEqual(["18 Nov 2026", "£1,234.50", "Monday"]);
  expect(one("de", "DE", "EUR")).toEqual(["18. Nov. 2026", "1.234,50 €", "Monday"]);
  expect(one("fr", "FR", "EUR")).toEqual(["18 nov. 2026", "1 234,50 €", "Monday"]);
});
