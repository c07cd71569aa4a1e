/** Reads the search part of addresses. Invalid values are dropped, because people edit addresses. */
type Raw = Record<string, unknown>;

const text = (v: unknown) => (typeof v === "string" && v !== "" ? v : typeof v === "number" ? String(v) : undefined);
const oneOf = <T extends string>(v: unknown, all: readonly T[]) => all.find((x) => x === v);
const matching = (v: unknown, form: RegExp) => (typeof v === "string" && form.test(v) ? v : undefined);

const month = /^\d{4}-(0[1-9]|1[0-2])$/;
const day = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

const currency = (s: Raw) => matching(s.currency, /^[A-Z]{3}$/);

export type OverviewSearch = { month?: string };
export const readMonth = (s: Raw): OverviewSearch => ({ month: matching(s.month, month) });

const sources = ["rule", "user", "agent", "provider"] as const;
const origins = ["manual", "part"] as const;
const yes = (v: unknown) => (v === true ? v : undefined);
const either = (v: unknown) => (typeof v === "boolean" ? v : undefined);

export type TransactionsSearch = {
  search?: string;
  /** One slug, or several separated by commas. */
  category?: string;
  filed?: (typeof sources)[number];
  counterparty?: string;
  payee?: string;
  /** The id of a transaction: the filter matches the payee of that transaction. */
  similar?: string;
  /** The id of a recurring payment: the filter matches its transactions. */
  recurring?: string;
  held?: true;
  comments?: true;
  transfer?: boolean;
  pending?: boolean;
  excluded?: true;
  /** Transactions that totals leave out, for any reason. */
  left?: "any";
  origin?: (typeof origins)[number];
  /** One account, or several separated by commas. The same is true of tags. */
  account?: string;
  tag?: string;
  /** A member: the filter matches transactions of that member's accounts. */
  person?: string;
  /** An amount or a range in the API's syntax: 75.05 or 100..200. */
  amount?: string;
  direction?: "in" | "out";
  uncategorized?: true;
  from?: string;
  to?: string;
  open?: string;
  /** The saved view from which these filters started. */
  view?: string;
};

export const readTransactions = (s: Raw): TransactionsSearch => ({
  search: text(s.search),
  category: text(s.category),
  filed: oneOf(s.filed, sources),
  counterparty: text(s.counterparty),
  payee: text(s.payee),
  similar: text(s.similar),
  recurring: text(s.recurring),
  held: yes(s.held),
  comments: yes(s.comments),
  transfer: either(s.transfer),
  pending: either(s.pending),
  excluded: yes(s.excluded),
  left: oneOf(s.left, ["any"] as const),
  origin: oneOf(s.origin, origins),
  account: text(s.account),
  tag: text(s.tag),
  person: text(s.person),
  amount: text(s.amount),
  direction: oneOf(s.direction, ["in", "out"] as const),
  uncategorized: yes(s.uncategorized),
  from: matching(s.from, day),
  to: matching(s.to, day),
  open: text(s.open),
  view: text(s.view),
});

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const causes = ["api", "tool", "rule", "sync", "import", "workflow_run", "revert"] as const;

export type ActivitySearch = {
  who?: "mine" | "agents";
  /** A member, key or assistant. */
  actor?: string;
  cause?: (typeof causes)[number];
  rule?: string;
  transaction?: string;
};

export const readActivity = (s: Raw): ActivitySearch => ({
  who: oneOf(s.who, ["mine", "agents"] as const),
  actor: matching(s.actor, uuid),
  cause: oneOf(s.cause, causes),
  rule: text(s.rule),
  transaction: text(s.transaction),
});

export type AccountsSearch = { by?: "kind" | "person" };
export const readAccounts = (s: Raw): AccountsSearch => ({ by: oneOf(s.by, ["kind", "person"] as const) });

export type AccountSearch = { span?: "3m" | "5y" | "all" };
export const readAccount = (s: Raw): AccountSearch => ({ span: oneOf(s.span, ["3m", "5y", "all"] as const) });

export type ReportsSearch = { open?: string };
export const readReports = (s: Raw): ReportsSearch => ({ open: text(s.open) });

export type CategoriesSearch = { tab?: "tags" | "payees" };
export const readCategories = (s: Raw): CategoriesSearch => ({ tab: oneOf(s.tab, ["tags", "payees"] as const) });

export type HouseholdSearch = { member?: string };
export const readHousehold = (s: Raw): HouseholdSearch => ({ member: text(s.member) });

/** The job that a screen shows. It is in the address, so that the page can be opened again. */
export type JobSearch = { job?: string };
export const readJob = (s: Raw): JobSearch => ({ job: text(s.job) });

/** The transaction from which to make a rule, and the category that the rule sets. */
export type RuleSearch = JobSearch & {
  from?: string;
  category?: string;
  /** The change that saved the rule before it was applied. */
  saved?: string;
};
export const readRule = (s: Raw): RuleSearch => ({
  ...readJob(s),
  from: text(s.from),
  category: text(s.category),
  saved: matching(s.saved, uuid),
});

export type WorthSearch = { years?: "3" | "10"; by?: "account" | "user"; currency?: string };
export const readWorth = (s: Raw): WorthSearch => ({
  years: oneOf(String(s.years), ["3", "10"] as const),
  by: oneOf(s.by, ["account", "user"] as const),
  currency: currency(s),
});

export type MonthsSearch = { side?: "in"; by?: "payee" | "account"; currency?: string };
export const readMonths = (s: Raw): MonthsSearch => ({
  side: oneOf(s.side, ["in"] as const),
  by: oneOf(s.by, ["payee", "account"] as const),
  currency: currency(s),
});

export type FlowSearch = {
  span?: "quarter" | "year";
  at?: string;
  compare?: "year" | "none";
  by?: "account";
  currency?: string;
  category?: string;
};
export const readFlow = (s: Raw): FlowSearch => ({
  span: oneOf(s.span, ["quarter", "year"] as const),
  at: matching(s.at, month),
  compare: oneOf(s.compare, ["year", "none"] as const),
  by: oneOf(s.by, ["account"] as const),
  currency: currency(s),
  category: text(s.category),
});
