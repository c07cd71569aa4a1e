import { localDay } from "#/lib/days";
import { cents, money } from "#/lib/money";
import { type Known, nothing, usual } from "#/parts/addKnown";
import type { Item } from "#/parts/addQueue";

/** The page to go back to. Only paths of this app are accepted. */
export const back = (() => {
  const from = new URLSearchParams(location.search).get("from") ?? "";
  return /^\/[a-z-]*$/.test(from) ? from : "/transactions";
})();

/** An empty form. */
export const emptyDraft = () => ({
  amount: "",
  way: "out",
  payee: "",
  category: "",
  account: "",
  date: localDay(new Date()),
  memo: "",
  fault: "",
  /** The field that caused the error; empty if no field did. */
  at: "" as "" | "amount" | "payee" | "account",
  chose: { category: false, account: false },
});

type State = {
  known: Known;
  /** The id of the signed-in member; null if nobody is signed in, undefined if the server did not respond. */
  user: string | null | undefined;
  /**
   * The member whose accounts and payees the form shows. New transactions belong to this member, with or without a
   * network.
   */
  owner: string | undefined;
  /** The owner's waiting transactions. */
  queue: Item[];
  shown: "form" | "done" | "queue";
  /** The text typed so far. It is stored here, so that it stays when the page is drawn again. */
  draft: ReturnType<typeof emptyDraft>;
  done?: { item: Item; change: string };
  busy: boolean;
  draw: (focus?: string) => void;
  /** Fills in the fields of the form again without replacing them, because someone may be about to press one. */
  refill: () => void;
};

/** The current state of the page. All parts read and write it; main.ts sets how it is drawn. */
export const state: State = {
  known: nothing(),
  user: undefined,
  owner: undefined,
  queue: [],
  shown: "form",
  draft: emptyDraft(),
  busy: false,
  draw: () => {},
  refill: () => {},
};

const account = () => state.known.accounts.find((a) => a.id === state.draft.account) ?? usual(state.known);
export const currencyOf = () => account()?.currency ?? "EUR";
export const shownAmount = (amount: number, currency: string) => {
  const n = cents(amount);
  return n < 0n ? `+${money(-n, currency)}` : money(n, currency);
};
