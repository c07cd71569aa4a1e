import { i18n, type MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import type { Account, Candidate, Interval, Proof } from "#/api/accounts";
import { dayShort, ordinal } from "#/lib/dates";
import { type Cents, cents } from "#/lib/money";
import { enteredManually } from "#/lib/provider";

type Stated = Pick<Account, "balance_today_derived" | "balance_date" | "balance_source" | "balance_method">;

/** The source of an account's balance and its day; empty if there is no balance. */
export function statedBy(a: Stated, today: string): string {
  if (!a.balance_date || !a.balance_source) return "";
  const now = a.balance_date >= today;
  const day = dayShort(a.balance_date, today);
  if (a.balance_today_derived && a.balance_method === "transactions")
    return {
      provider: t`Calculated from the bank balance of ${day} plus later transactions`,
      statement: t`Calculated from the statement balance of ${day} plus later transactions`,
      manual: t`Calculated from the balance entered for ${day} plus later transactions`,
    }[a.balance_source];
  return {
    provider: now ? t`Bank balance today` : t`Bank balance on ${day}`,
    statement: now ? t`Statement balance, today` : t`Statement balance, ${day}`,
    manual: now ? t`Entered for today` : t`Entered for ${day}`,
  }[a.balance_source];
}

type Dated = Pick<Account, "balance_date" | "balance_method" | "provider">;

/** Whether the last balance is too old: a bank's balance after a day, a balance that people look up after a year. */
export const staleBalance = (a: Dated, today: string) =>
  a.balance_date === null ||
  ordinal(today) - ordinal(a.balance_date) > (enteredManually(a) || a.balance_method === "valuations" ? 366 : 1);

type Verdict = { mood: "good" | "warn" | "info"; title: string; text: string };

/** The result of an account's balance check: a title, and a sentence that explains it. */
export function verdict(p: Proof, method: Account["balance_method"], today: string): Verdict {
  const day = (d: string) => dayShort(d, today);
  const from = p.intervals.find((i) => i.status === "proved")?.from;
  const proved =
    from && p.proved_until
      ? t`Transactions match every balance from ${{ from: day(from) }} to ${{ to: day(p.proved_until) }}.`
      : "";
  switch (p.status) {
    case "proved":
      return { mood: "good", title: t`Balances verified`, text: proved };
    case "gap": {
      const n = p.intervals.filter((i) => i.status === "gap").length;
      const until = p.proved_until && t`Last verified on ${{ day: day(p.proved_until) }}.`;
      return {
        mood: "warn",
        title: plural(n, { one: "# mismatch found", other: "# mismatches found" }),
        text: [t`The balance changed by a different amount than the transactions.`, until].filter(Boolean).join(" "),
      };
    }
    case "open":
      return { mood: "info", title: t`Not enough data yet`, text: [whyOpen(p), proved].filter(Boolean).join(" ") };
    case "none":
      return method === "valuations"
        ? { mood: "info", title: t`Not checked`, text: t`This account’s value doesn’t depend on transactions.` }
        : { mood: "info", title: t`Not checked`, text: t`This account has no balance yet.` };
  }
}

function whyOpen(p: Proof): string {
  if (p.statements < 2) return t`There’s only one balance so far; two are needed to compare.`;
  if (p.ignored > 0)
    return t`${{ ignored: p.ignored }} of ${plural(p.statements, { one: "# balance", other: "# balances" })} don’t line up, which happens when the bank takes them mid-day.`;
  return t`The balances don’t agree with each other often enough.`;
}

/** The amount that is wrong in a gap, a phrase that says in which direction, and the likely cause. */
export function wrong(i: Interval): { amount: Cents; words: (amount: string) => string; maybe: string } {
  const n = cents(i.difference ?? 0);
  const rows = i.transactions;
  return n > 0n
    ? {
        amount: n,
        words: (amount) =>
          rows === 0
            ? t`${amount} less went out than recorded: there are no transactions on these days.`
            : t`${amount} less went out than ${plural(rows, { one: "the # transaction shows", other: "the # transactions show" })}.`,
        maybe: t`A transaction may be duplicated, or a deposit may be missing.`,
      }
    : {
        amount: -n,
        words: (amount) =>
          rows === 0
            ? t`${amount} more went out than recorded: there are no transactions on these days.`
            : t`${amount} more went out than ${plural(rows, { one: "the # transaction shows", other: "the # transactions show" })}.`,
        maybe: t`A transaction may be missing, or a deposit may be duplicated.`,
      };
}

export const whys: Record<Candidate["why"], MessageDescriptor> = {
  same_amount_twice: msg`Same amount twice`,
  same_amount_deleted: msg`Same amount, deleted`,
  same_amount_pending: msg`Same amount, still pending`,
  quarantined: msg`Unreadable row from the bank`,
};
export const whyOf = (c: Candidate) => i18n._(whys[c.why]);
