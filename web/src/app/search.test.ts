import { i18n } from "@lingui/core";
import { expect, it } from "vitest";
import { find, rank } from "#/features/palette/find";
import { others } from "#/features/palette/places";
import { pages } from "./navigation";

const places = [...pages, ...others];

const all = { write: true, admin: true };
const first = (typed: string, may = all) => {
  const [p] = find(places, typed, may);
  return p && i18n._(p.name);
};

/** The words that people type, and the result that they expect first. */
const expected: Record<string, string> = {
  home: "Overview",
  dashboard: "Overview",
  inbox: "Review",
  approve: "Review",
  payments: "Transactions",
  balance: "Accounts",
  "credit card": "Accounts",
  budget: "Budget",
  budgets: "Budget",
  targets: "Budget",
  subscriptions: "Recurring",
  bills: "Recurring",
  salary: "Recurring",
  income: "Cash flow",
  expenses: "Cash flow",
  spending: "Cash flow",
  debts: "Net worth",
  assets: "Net worth",
  rules: "Rules",
  workflows: "AI agents",
  ai: "AI agents",
  undo: "Activity",
  history: "Activity",
  settings: "Settings",
  preferences: "Settings",
  findings: "Alerts",
  refunds: "Alerts",
  "duplicate charge": "Alerts",
  transfers: "Linked accounts",
  "suggested rules": "Suggestions",
  import: "Import statement",
  csv: "Import statement",
  upload: "Import statement",
  upcoming: "Calendar",
  forecast: "Calendar",
  months: "Trends",
  monthly: "Trends",
  chatgpt: "Assistants",
  claude: "Assistants",
  "quiet hours": "Limits",
  profile: "Your account",
  sessions: "Your account",
  language: "Your account",
  "time zone": "General",
  "household name": "General",
  invite: "Members",
  household: "Members",
  family: "Members",
  category: "Categories",
  labels: "Tags",
  merchants: "Payees",
  token: "API keys",
  provider: "Bank providers",
  ollama: "AI models",
  notify: "Notifications",
  currency: "Exchange rates",
  export: "Export data",
  download: "Export data",
  backup: "Export data",
  version: "About",
  add: "Add transaction",
  "add account": "Connect a bank",
  reconnect: "Connect a bank",
  "new rule": "Create rule",
  password: "Change password",
  passkey: "Change password",
  dark: "Dark theme",
  "dark mode": "Dark theme",
  hide: "Hide or show amounts",
  shortcuts: "Keyboard shortcuts",
  api: "API reference",
  "log out": "Sign out",
  logout: "Sign out",
};

it.each(Object.entries(expected))("finds for “%s” first %s", (typed, name) => expect(first(typed)).toBe(name));

it("finds every place by its name, by each of its words, and from the first letters", () => {
  const lost = places.flatMap((p) =>
    [i18n._(p.name), ...i18n._(p.words).split(", ")].filter((w) => !find(places, w, all).includes(p)),
  );
  expect(lost).toEqual([]);
  expect(first("subscr")).toBe("Recurring");
  expect(first("EXPORT ")).toBe("Export data");
  expect(first("zone time")).toBe("General");
});

it("finds nothing for what no place has", () => {
  expect(find(places, "rewe", all)).toEqual([]);
  expect(rank("Budget", "goals", "oal")).toBeUndefined();
});

it("ignores case and accents", () => expect(rank("Übersicht", "Geldflüsse", "uber")).toBe(2));

it("offers only what one may do", () => {
  const looks = { write: false, admin: false };
  expect(first("export", looks)).toBeUndefined();
  expect(first("csv", looks)).toBeUndefined();
  expect(first("invite", looks)).toBe("Members");
  expect(find(places, "", looks).map((p) => i18n._(p.name))).toHaveLength(13);
});
