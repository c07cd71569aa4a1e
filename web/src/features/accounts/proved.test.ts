import { expect, it } from "vitest";
import type { Interval, Proof } from "#/api/accounts";
import { staleBalance, statedBy, verdict, whys, wrong } from "./proved";

const today = "2026-11-16";
const bank = {
  balance_today_derived: false,
  balance_date: today,
  balance_source: "provider",
  balance_method: "transactions",
} as const;

it("says who stated a balance, and when", () => {
  expect(statedBy(bank, today)).toBe("Stated by the bank today");
  const old = { ...bank, balance_date: "2026-11-02", balance_today_derived: true };
  expect(statedBy(old, today)).toBe("Reckoned from the bank's balance of 2 Nov and the payments since");
  expect(statedBy({ ...old, balance_source: "manual" }, today)).toBe(
    "Reckoned from the balance set by hand for 2 Nov and the payments since",
  );
  expect(statedBy({ ...old, balance_method: "valuations" }, today)).toBe("Stated by the bank on 2 Nov");
  expect(statedBy({ ...old, balance_method: "valuations", balance_source: "statement" }, today)).toBe(
    "From a statement, as of 2 Nov",
  );
  expect(statedBy({ ...bank, balance_source: "manual" }, today)).toBe("Set by hand for today");
  expect(statedBy({ ...bank, balance_date: null, balance_source: null }, today)).toBe("");
  const stale = (balance_date: string | null, provider: "plaid" | "manual" = "plaid") =>
    staleBalance({ balance_date, provider, balance_method: "transactions" }, today);
  expect([stale(null), stale("2026-11-15"), stale("2026-11-14")]).toEqual([true, false, true]);
  expect([stale("2026-01-01", "manual"), stale("2025-01-01", "manual")]).toEqual([false, true]);
});

const gap = (difference: number): Interval => ({
  from: "2026-05-03",
  to: "2026-05-10",
  status: "gap",
  stated_from: 100,
  stated_to: 87.5,
  moved: 25,
  transactions: 2,
  difference,
  candidates: [],
});
const proved: Interval = { ...gap(0), from: "2026-03-01", to: "2026-05-03", status: "proved", difference: null };
const proof = (p: Partial<Proof>): Proof => ({
  account_id: "",
  iso_currency_code: "EUR",
  status: "proved",
  opening_balance: 100,
  statements: 9,
  ignored: 0,
  proved_until: "2026-05-03",
  foreign_rows: 0,
  intervals: [proved],
  ...p,
});

it("has words for every status", () => {
  const said = (p: Partial<Proof>, method: "transactions" | "valuations" = "transactions") => {
    const v = verdict(proof(p), method, today);
    return `${v.title}. ${v.text}`;
  };
  expect(said({})).toBe("Yes. From 1 Mar to 3 May the payments explain every balance.");
  expect(said({ status: "gap", intervals: [proved, gap(5)] })).toBe(
    "No, there is one gap. There the balance moved by another amount than the payments." +
      " The last balance that the payments explain is of 3 May.",
  );
  expect(said({ status: "gap", intervals: [gap(5), gap(6)], proved_until: null })).toBe(
    "No, there are 2 gaps. There the balance moved by another amount than the payments.",
  );
  const open: Partial<Proof> = { status: "open", proved_until: null, intervals: [] };
  expect(said({ ...open, statements: 1 })).toContain("a second one is needed");
  expect(said({ ...open, statements: 9, ignored: 5 })).toContain("5 of 9 balances fit nothing");
  expect(said({ ...open, statements: 9 })).toContain("do not agree with each other");
  expect(said({ status: "none", statements: 0 })).toContain("Nobody has stated a balance");
  expect(said({ status: "none" }, "valuations")).toContain("Payments do not explain what this account is worth");
});

it("says how much is wrong in a gap, and which way", () => {
  const [twice, lost] = [wrong(gap(12.5)), wrong(gap(-30))];
  expect([twice.amount, lost.amount]).toEqual([1250n, 3000n]);
  expect(twice.words("€12.50")).toBe("€12.50 less went out than the 2 payments of these days say");
  expect(lost.words("€30.00")).toBe("€30.00 more went out than the 2 payments of these days say");
  expect(wrong({ ...gap(-30), transactions: 1 }).words("€30.00")).toContain("the one payment of these days says");
  expect(wrong({ ...gap(-30), transactions: 0 }).words("€30.00")).toContain("there is no payment in these days");
  expect(Object.keys(whys)).toHaveLength(4);
});
