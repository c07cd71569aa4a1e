import { expect, test } from "vitest";
import type { Upcoming, UpcomingAccount, UpcomingItem } from "#/api/upcoming";
import { accountOf, ahead, daysOf, daysUntil, doubt, lowest, remark, sums, sumWords, weeks } from "./days";

const item = (amount: number, iso_currency_code = "EUR", more: Partial<UpcomingItem> = {}): UpcomingItem => ({
  recurring_id: "r",
  name: "Rent",
  account_id: "a",
  amount,
  iso_currency_code,
  certain: true,
  ...more,
});

test("weeks begin on Mondays and have every day of the month once", () => {
  expect(weeks("2026-11")[0]).toEqual([null, null, null, null, null, null, "2026-11-01"]);
  expect(weeks("2026-11")).toHaveLength(6);
  expect(weeks("2027-02")).toHaveLength(4);
  for (const month of ["2026-11", "2027-02", "2028-02", "2026-12"]) {
    const days = weeks(month).flat().filter(Boolean);
    expect(days[0]).toBe(`${month}-01`);
    expect(new Set(days).size).toBe(days.length);
    for (const w of weeks(month)) {
      const monday = w[0];
      expect(w).toHaveLength(7);
      if (monday) expect(new Date(`${monday}T12:00:00Z`).getUTCDay()).toBe(1);
    }
  }
  expect(weeks("2028-02").flat().filter(Boolean)).toHaveLength(29);
});

test("weeks begin as the reader's do", () => {
  expect(weeks("2026-11", 7)[0]?.[0]).toBe("2026-11-01"); // a Sunday
  expect(weeks("2026-11", 7)).toHaveLength(5);
  expect(weeks("2026-11", 6)[0]).toEqual([
    null,
    "2026-11-01",
    "2026-11-02",
    "2026-11-03",
    "2026-11-04",
    "2026-11-05",
    "2026-11-06",
  ]);
  for (const first of [1, 6, 7])
    for (const week of weeks("2027-05", first)) {
      const day = week[0];
      expect(week).toHaveLength(7);
      if (day) expect(new Date(`${day}T12:00:00Z`).getUTCDay()).toBe(first % 7);
    }
});

test("the days that are asked for reach the end of the month", () => {
  expect(daysUntil("2026-11", "2026-11-17")).toBe(14);
  expect(daysUntil("2026-11", "2026-11-30")).toBe(1);
  expect(daysUntil("2026-12", "2026-01-01")).toBe(365);
  expect(daysUntil("2028-12", "2028-01-01")).toBe(366);
});

test("two currencies are two sums", () => {
  const days = [
    {
      date: "2026-11-30",
      items: [item(10.1), item(0.2), item(5, "USD"), item(-2000), item(800, "EUR", { transfer: true })],
    },
    { date: "2026-12-01", items: [item(7)] },
  ];
  expect(sums(daysOf(days, "2026-11"))).toEqual({
    out: new Map([
      ["EUR", 1030n],
      ["USD", 500n],
    ]),
    in: new Map([["EUR", 200000n]]),
  });
});

test("says nothing of a side on which nothing is due", () => {
  const said = (...items: UpcomingItem[]) =>
    sumWords(sums([{ date: "2026-11-30", items }]), (n, currency) => `${n} ${currency}`);
  expect(said(item(10), item(5, "USD"), item(-20))).toBe("1000 EUR + 500 USD out · 2000 EUR in");
  expect(said(item(10), item(0, "USD"))).toBe("1000 EUR out");
  expect(said(item(-20))).toBe("2000 EUR in");
  expect(said(item(800, "EUR", { transfer: true }))).toBe("");
});

test("says what is uncertain", () => {
  expect(doubt(item(1), "2026-11-17")).toBeUndefined();
  expect(doubt(item(1, "EUR", { certain: false }), "2026-11-17")).toBe("estimated");
  expect(doubt(item(1, "EUR", { certain: false, due_date: "2026-11-14" }), "2026-11-17")).toBe("was due 14 Nov");
  expect(remark(item(1, "EUR", { certain: false, transfer: true }), "2026-11-17")).toBe("estimated · transfer");
});

test("says how low the balance of an account will be", () => {
  const a = (balance_today: number | null, low?: [string, number]): UpcomingAccount => ({
    account_id: "a",
    name: "Joint",
    iso_currency_code: "EUR",
    balance_today,
    lowest: low ? { date: low[0], balance: low[1] } : null,
  });
  const say = (n: bigint) => `€${n}`;
  expect(lowest(a(null), false, "2026-11-17", say)).toBe("No balance");
  expect(lowest(a(5), false, "2026-11-17", say)).toBe("Not projected");
  expect(lowest(a(5, ["2026-11-30", 3]), false, "2026-11-17", say)).toBe("Lowest on 30 Nov");
  expect(lowest(a(5, ["2026-11-17", 3]), false, "2026-11-17", say)).toBe("Lowest today");
  expect(lowest(a(5, ["2026-11-17", 5]), false, "2026-11-17", say)).toBe("Won’t drop below today’s balance");
  expect(lowest(a(5, ["2026-11-30", -3]), false, "2026-11-17", say)).toBe("Goes below zero on 30 Nov: €-300");
  expect(lowest(a(5, ["2026-11-30", 9]), true, "2026-11-17", say)).toBe("Highest debt on 30 Nov");
  expect(lowest(a(5, ["2026-11-17", 5]), true, "2026-11-17", say)).toBe("Debt won’t rise");
});

test("weeks that are over are not shown", () => {
  const shown = weeks("2026-11").filter((week) => ahead(week, "2026-11-18"));
  expect(shown[0]?.[0]).toBe("2026-11-16");
  expect(weeks("2026-12").filter((week) => ahead(week, "2026-11-18"))).toEqual(weeks("2026-12"));
});

test("payments of one name from several accounts say from which", () => {
  const items = [
    item(10),
    item(10, "EUR", { recurring_id: "s", account_id: "b" }),
    item(9, "EUR", { name: "Gym", recurring_id: "g" }),
    item(5, "EUR", { name: "Phone", recurring_id: "p" }),
    item(7, "EUR", { name: "Phone", recurring_id: "q" }),
  ];
  const all = {
    days: items.map((i, n) => ({ date: `2026-11-0${n + 1}`, items: [i] })),
    accounts: [
      { account_id: "a", name: "Giro" },
      { account_id: "b", name: "Card" },
    ],
  } as Upcoming;
  expect(items.map((i) => accountOf(i, all))).toEqual(["Giro", "Card", undefined, undefined, undefined]);
});
