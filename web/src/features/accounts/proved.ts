import type { Account, Candidate, Interval, Proof } from "#/api/accounts";
import { dayShort, ordinal } from "#/lib/dates";
import { type Cents, cents } from "#/lib/money";
import { payments } from "#/lib/words";

type Stated = Pick<Account, "balance_today_derived" | "balance_date" | "balance_source" | "balance_method">;

/** Who said what an account stands at, and of which day; empty if nobody did. */
export function statedBy(a: Stated, today: string): string {
  if (!a.balance_date || !a.balance_source) return "";
  const now = a.balance_date >= today;
  const day = now ? "today" : dayShort(a.balance_date, today);
  const on = now ? day : `on ${day}`;
  if (a.balance_today_derived && a.balance_method === "transactions") {
    const from = {
      provider: `the bank's balance of ${day}`,
      statement: `a statement's balance of ${day}`,
      manual: `the balance set by hand for ${day}`,
    };
    return `Reckoned from ${from[a.balance_source]} and the payments since`;
  }
  return {
    provider: `Stated by the bank ${on}`,
    statement: `From a statement, as of ${day}`,
    manual: `Set by hand for ${day}`,
  }[a.balance_source];
}

type Dated = Pick<Account, "balance_date" | "balance_method" | "provider">;

/** Whether the last stated balance is too old: a bank's after a day, what people look up themselves after a year. */
export const staleBalance = (a: Dated, today: string) =>
  a.balance_date === null ||
  ordinal(today) - ordinal(a.balance_date) > (a.provider === "manual" || a.balance_method === "valuations" ? 366 : 1);

type Verdict = { mood: "good" | "warn" | "info"; title: string; text: string };

/** Whether the books of an account add up: in a word, and in a sentence that says what follows. */
export function verdict(p: Proof, method: Account["balance_method"], today: string): Verdict {
  const day = (d: string) => dayShort(d, today);
  const from = p.intervals.find((i) => i.status === "proved")?.from;
  const proved =
    from && p.proved_until ? `From ${day(from)} to ${day(p.proved_until)} the payments explain every balance.` : "";
  switch (p.status) {
    case "proved":
      return { mood: "good", title: "Yes", text: proved };
    case "gap": {
      const n = p.intervals.filter((i) => i.status === "gap").length;
      const until = p.proved_until ? ` The last balance that the payments explain is of ${day(p.proved_until)}.` : "";
      return {
        mood: "warn",
        title: n === 1 ? "No, there is one gap" : `No, there are ${n} gaps`,
        text: `There the balance moved by another amount than the payments.${until}`,
      };
    }
    case "open":
      return { mood: "info", title: "It cannot be told yet", text: [whyOpen(p), proved].filter(Boolean).join(" ") };
    case "none":
      return method === "valuations"
        ? { mood: "info", title: "Nothing to prove", text: "Payments do not explain what this account is worth." }
        : { mood: "info", title: "It cannot be told", text: "Nobody has stated a balance of this account." };
  }
}

function whyOpen(p: Proof): string {
  if (p.statements < 2) return "A balance is known of one day only, and a second one is needed to compare.";
  if (p.ignored > 0)
    return `${p.ignored} of ${p.statements} balances fit nothing, as those that the bank takes between two bookings of a day do.`;
  return "The balances do not agree with each other often enough.";
}

/** How much is wrong in a gap, which way, and what that may mean. */
export function wrong(i: Interval): { amount: Cents; words: (amount: string) => string; maybe: string } {
  const n = cents(i.difference ?? 0);
  const say =
    i.transactions === 1 ? "the one payment of these days says" : `the ${payments(i.transactions)} of these days say`;
  const than = i.transactions === 0 ? "than is known: there is no payment in these days" : `than ${say}`;
  return n > 0n
    ? {
        amount: n,
        words: (a) => `${a} less went out ${than}`,
        maybe: "A payment may be there twice, or money that came in is missing.",
      }
    : {
        amount: -n,
        words: (a) => `${a} more went out ${than}`,
        maybe: "A payment may be missing, or money that came in may be there twice.",
      };
}

export const whys: Record<Candidate["why"], string> = {
  same_amount_twice: "This amount is there twice",
  same_amount_deleted: "Of this amount, and removed",
  same_amount_pending: "Of this amount, and still pending",
  quarantined: "Sent by the bank, and not readable",
};
