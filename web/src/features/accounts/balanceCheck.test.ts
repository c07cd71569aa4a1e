import { expect, it } from "vitest";
import type { Interval, Proof } from "#/api/accounts";
import { staleBalance, statedBy, verdict, whys, wrong } from "./balanceCheck";

const today = "2026-11-16";
const bank = {
  balance_today_derived: false,
  balance_date: today,
  balance_source: "provider",
  balance_method: "transactions",
} as const;

it("says who stated a balance, and when", () => {
  expect(statedBy(bank, today)).toBe("Bank balance today");
  const old = { ...bank, balance_date: "2026-11-02", balance_today_derived: true };
  expect(statedBy(old, today)).toBe("Calculated from the bank balance of 2 Nov plus later transactions");
  expect(statedBy({ ...old, balance_source: "manual" }, today)).toBe(
    "Calculated from the balance entered for 2 Nov plus later transactions",
  );
  expect(statedBy({ ...old, balance_method: "valuations" }, today)).toBe("Bank balance on 2 Nov");
  expect(statedBy({ ...old, balance_method: "valuations", balance_source: "statement" }, today)).toBe(
    "Statement balance, 2 Nov",
  );
  expect(statedBy({ ...bank, balance_source: "manual" }, today)).toBe("Entered for today");
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
  const textOf = (p: Partial<Proof>, method: "transactions" | "valuations" = "transactions") => {
    const v = verdict(proof(p), method, today);
    return `${v.title}. ${v.text}`;
  };
  expect(textOf({})).toBe("Balances verified. Transactions match every balance from 1 Mar to 3 May.");
  expect(textOf({ status: "gap", intervals: [proved, gap(5)] })).toBe(
    "1 mismatch found. The balance changed by a different amount than the transactions. Last verified on 3 May.",
  );
  expect(textOf({ status: "gap", intervals: [gap(5), gap(6)], proved_until: null })).toBe(
    "2 mismatches found. The balance changed by a different amount than the transactions.",
  );
  const open: Partial<Proof> = { status: "open", proved_until: null, intervals: [] };
  expect(textOf({ ...open, statements: 1 })).toContain("two are needed to compare");
  expect(textOf({ ...open, statements: 9, ignored: 5 })).toContain("5 of 9 balances don’t line up");
  expect(textOf({ ...open, statements: 9 })).toContain("don’t agree with each other");
  expect(textOf({ status: "none", statements: 0 })).toContain("This account has no balance yet");
  expect(textOf({ status: "none" }, "valuations")).toContain("This account’s value doesn’t depend on transactions");
});

it("says how much is wrong in a gap, and which way", () => {
  const [twice, lost] = [wrong(gap(12.5)), wrong(gap(-30))];
  expect([twice.amount, lost.amount]).toEqual([1250n, 3000n]);
  expect(twice.words("€12.50")).toBe("€12.50 less went out than the 2 transactions show.");
  expect(lost.words("€30.00")).toBe("€30.00 more went out than the 2 transactions show.");
  expect(wrong({ ...gap(-30), transactions: 1 }).words("€30.00")).toContain("the 1 transaction shows");
  expect(wrong({ ...gap(-30), transactions: 0 }).words("€30.00")).toContain("there are no transactions on these days");
  expect(Object.keys(whys)).toHaveLength(4);
});
