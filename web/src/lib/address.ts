/** What addresses hold beside their path. Whatever does not fit is left out, because people edit addresses. */
type Raw = Record<string, unknown>;

const text = (v: unknown) => (typeof v === "string" && v !== "" ? v : typeof v === "number" ? String(v) : undefined);
const oneOf = <T extends string>(v: unknown, all: readonly T[]) => all.find((x) => x === v);
const matching = (v: unknown, form: RegExp) => (typeof v === "string" && form.test(v) ? v : undefined);

const month = /^\d{4}-(0[1-9]|1[0-2])$/;
const day = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

export type OverviewSearch = { month?: string };
export const readMonth = (s: Raw): OverviewSearch => ({ month: matching(s.month, month) });

export type TransactionsSearch = {
  search?: string;
  category?: string;
  account?: string;
  tag?: string;
  direction?: "in" | "out";
  uncategorized?: true;
  from?: string;
  to?: string;
  open?: string;
};

export const readTransactions = (s: Raw): TransactionsSearch => ({
  search: text(s.search),
  category: text(s.category),
  account: text(s.account),
  tag: text(s.tag),
  direction: oneOf(s.direction, ["in", "out"] as const),
  uncategorized: s.uncategorized === true ? true : undefined,
  from: matching(s.from, day),
  to: matching(s.to, day),
  open: text(s.open),
});

export type ActivitySearch = { who?: "mine" | "agents" };
export const readActivity = (s: Raw): ActivitySearch => ({ who: oneOf(s.who, ["mine", "agents"] as const) });
