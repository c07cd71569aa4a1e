import { afterEach, describe, expect, it, vi } from "vitest";
import { localeOf, moneyLocaleOf, regionOf } from "./locale";
import { weekStart } from "./week";

it("takes the region that was chosen, then that of the browser's first language", () => {
  expect(regionOf("AT", ["en-US"])).toBe("AT");
  expect(regionOf(null, ["en-US", "en"])).toBe("US");
  expect(regionOf(null, ["en-GB", "en-US", "en"])).toBe("GB");
  expect(regionOf(null, ["de", "de-AT"])).toBe("AT");
  expect(regionOf(null, ["de", "en-US", "en"])).toBe("DE");
  expect(regionOf(null, ["en"])).toBe("US");
  expect(regionOf(null, ["pt-BR", "fr-CA"])).toBe("BR");
  expect(regionOf(null, ["*", "fr-CA"])).toBe("CA");
  expect(regionOf(null, ["es-419", "es-MX"])).toBe("419");
  expect(regionOf("no region", ["sv"])).toBe("SE");
  expect(regionOf(null, [])).toBe("GB");
});

it("is never American where nobody is", () => {
  expect(localeOf("en", "US")).toBe("en-US");
  expect(localeOf("en", "GB")).toBe("en-GB");
  expect(localeOf("en", "BR")).toBe("en-001");
  expect(localeOf("de", "US")).toBe("de-US");
});

it("writes hundredths of money and of other numbers with the same sign", () => {
  for (const region of [
    "AT",
    "BE",
    "CH",
    "DE",
    "ES",
    "FR",
    "GB",
    "IE",
    "IT",
    "NL",
    "PL",
    "SE",
    "US",
    "BR",
    "CA",
    "IN",
  ]) {
    const of = localeOf("en", region);
    const signs = (locale: string, o: Intl.NumberFormatOptions) =>
      new Intl.NumberFormat(locale, o).formatToParts(12345.5).flatMap((p) => (p.type === "decimal" ? [p.value] : []));
    for (const currency of ["EUR", "USD", "PLN"])
      expect([region, currency, ...signs(moneyLocaleOf(of, region), { style: "currency", currency })]).toEqual([
        region,
        currency,
        ...signs(of, {}),
      ]);
  }
});

it("knows the first day of a week, whether the browser tells or not", () => {
  const all = { US: 7, GB: 1, DE: 1, FR: 1, CA: 7, EG: 6, BR: 7 };
  for (const [region, day] of Object.entries(all)) {
    expect([region, weekStart(region)]).toEqual([region, day]);
    expect([region, weekStart(region, {})]).toEqual([region, day]);
  }
  expect(weekStart("US", { getWeekInfo: () => ({ firstDay: 1 }) })).toBe(1);
});

/** The app's formats for a reader of that language in that region. */
async function reader(language: string, region: string) {
  vi.resetModules();
  vi.doMock("./language", () => ({ language, languages: [language] }));
  vi.stubGlobal("localStorage", { getItem: (key: string) => (key === "region" ? region : null) });
  const [dates, money, typing, words, week] = await Promise.all([
    import("./dates"),
    import("./money"),
    import("./typed"),
    import("./words"),
    import("./week"),
  ]);
  return { ...dates, ...money, ...typing, ...words, ...week };
}

/** Makes all spaces the same, and all apostrophes. */
const one = (s: string) => s.replace(/\s/g, " ").replace(/’/g, "'");

afterEach(() => {
  vi.doUnmock("./language");
  vi.unstubAllGlobals();
});

describe.each([
  {
    who: ["en", "US"],
    dates: ["Nov 14", "Nov 14, 2025", "Saturday, November 14, 2026", "Sat 14", "8:15 AM", "Fri, Nov 20 at 6:00 PM"],
    week: ["Sunday", "Monday"],
    money: ["€1,234.56", "−$1,234.56", "$1,235", "1,234.50", "12.5%", "1,234"],
  },
  {
    who: ["en", "GB"],
    dates: ["14 Nov", "14 Nov 2025", "Saturday 14 November 2026", "Sat 14", "08:15", "Fri 20 Nov at 18:00"],
    week: ["Monday", "Tuesday"],
    money: ["€1,234.56", "−US$1,234.56", "US$1,235", "1,234.50", "12.5%", "1,234"],
  },
  {
    who: ["en", "DE"],
    dates: ["14 Nov", "14 Nov 2025", "Saturday 14 November 2026", "Sat 14", "08:15", "Fri 20 Nov at 18:00"],
    week: ["Monday", "Tuesday"],
    money: ["1.234,56 €", "−1.234,56 $", "1.235 $", "1.234,50", "12,5 %", "1.234"],
  },
  {
    who: ["de", "DE"],
    dates: ["14. Nov.", "14. Nov. 2025", "Samstag, 14. November 2026", "Sa., 14.", "08:15", "Fr., 20. Nov. at 18:00"],
    week: ["Montag", "Dienstag"],
    money: ["1.234,56 €", "−1.234,56 $", "1.235 $", "1.234,50", "12,5 %", "1.234"],
  },
  {
    who: ["de", "CH"],
    dates: ["14. Nov.", "14. Nov. 2025", "Samstag, 14. November 2026", "Sa., 14.", "08:15", "Fr., 20. Nov. at 18:00"],
    week: ["Montag", "Dienstag"],
    money: ["EUR 1'234.56", "$−1'234.56", "$ 1'235", "1'234.50", "12.5%", "1'234"],
  },
  {
    who: ["fr", "FR"],
    dates: ["14 nov.", "14 nov. 2025", "samedi 14 novembre 2026", "sam. 14", "08:15", "ven. 20 nov. at 18:00"],
    week: ["lundi", "mardi"],
    money: ["1 234,56 €", "−1 234,56 $US", "1 235 $US", "1 234,50", "12,5 %", "1 234"],
  },
] as const)("a reader of $who", ({ who: [language, region], dates, week, money }) => {
  it("has dates and weeks", async () => {
    const r = await reader(language, region);
    const now = new Date(2026, 10, 14, 9, 0);
    expect([
      r.dayShort("2026-11-14", "2026-12-01"),
      r.dayShort("2025-11-14", "2026-12-01"),
      r.dayFull("2026-11-14"),
      r.dayInMonth("2026-11-14"),
      one(r.moment(new Date(2026, 10, 14, 8, 15).toISOString(), now)),
      one(r.ahead(new Date(2026, 10, 20, 18, 0).toISOString(), now)),
    ]).toEqual(dates);
    const days = r.weekdays(r.firstWeekday).map((d) => d.name);
    expect(days.slice(0, 2)).toEqual(week);
    expect(new Set(days).size).toBe(7);
  });

  it("has numbers, and is understood in them", async () => {
    const r = await reader(language, region);
    expect(
      [
        r.money(123456n, "EUR"),
        r.money(-123456n, "USD"),
        r.rounded(123456n, "USD"),
        r.written(123450n),
        r.percent(12.5),
        r.number(1234),
      ].map(one),
    ).toEqual(money);
    for (const n of [0n, 5n, -5n, 100n, 123450n, -123456789n, 99999999999n]) {
      expect(r.typed(r.written(n))).toBe(n);
      expect(r.typed(r.short(n))).toBe(n);
      expect(r.typed(r.money(n, "EUR"))).toBe(n);
      expect(r.typed(r.money(n, "USD"))).toBe(n);
    }
  });
});

it("shortens thousands only where the language does", async () => {
  const [english, german] = [await reader("en", "US"), await reader("de", "DE")];
  expect(one(english.compact(486480n, "EUR"))).toBe("€4.9K");
  expect([486480n, 600000n, 250000000n].map((n) => one(german.compact(n, "EUR")))).toEqual([
    "4.865 €",
    "6.000 €",
    "2,5 Mio. €",
  ]);
});
