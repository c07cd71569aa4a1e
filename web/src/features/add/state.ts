import { localDay } from "#/lib/days";
import { cents, money } from "#/lib/money";
import { type Known, nothing, usual } from "#/parts/addKnown";
import type { Item } from "#/parts/addQueue";

/** Where one came from, to go back there. Only a path of this app. */
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
  /** The field that is at fault; empty if it is none of them. */
  at: "" as "" | "amount" | "payee" | "account",
  chose: { category: false, account: false },
});

type State = {
  known: Known;
  /** Who is signed in; null for nobody, undefined if the server cannot be asked. */
  user: string | null | undefined;
  /** The person whose names the form shows. The payments that are added are theirs, with a network or without. */
  owner: string | undefined;
  /** Those of the owner that wait. */
  queue: Item[];
  shown: "form" | "done" | "queue";
  /** The form as it was typed so far: it stays when the page is drawn again. */
  draft: ReturnType<typeof emptyDraft>;
  done?: { item: Item; change: string };
  busy: boolean;
  draw: (focus?: string) => void;
  /** Fills in the form again. A control that somebody is about to press is not replaced. */
  refill: () => void;
};

/** The page at this moment. Its parts read and write it, and the entry sets how it is drawn. */
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
