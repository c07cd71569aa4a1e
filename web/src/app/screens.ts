import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Overview } from "#/api/overview";
import {
  readAccount,
  readAccounts,
  readActivity,
  readCategories,
  readFlow,
  readHousehold,
  readJob,
  readMonth,
  readMonths,
  readReports,
  readRule,
  readTransactions,
  readWorth,
} from "#/lib/address";
import { firstDay, lastDay, shift } from "#/lib/days";
import { rowFields } from "#/lib/early";
import { loadTexts } from "#/lib/language";
import type { IconName } from "#/ui/icons";

/** The heading of the navigation under which a screen appears. */
export type Part = "daily" | "plan" | "insights" | "automate" | "own";

export type Screen = {
  path: string;
  /** The screen's script and texts. A screen without them is part of the app's own script. */
  page?: { load: () => Promise<object>; name: string };
  /** Reads the search part of the screen's address. */
  search?: (raw: Record<string, unknown>) => object;
  /**
   * What the screen requests first for a month, if its address has no search. The page's first script
   * sends these requests.
   */
  asks?: (month: string) => string[];
  name?: MessageDescriptor;
  icon?: IconName;
  /**
   * The words by which people look for the screen, separated by commas. The search does not find a screen without them.
   */
  words?: MessageDescriptor;
  /** Who can use the screen; by default everyone. */
  for?: "writers" | "admins";
  /** The screen's kind in the search, if its path does not show it. */
  kind?: "action";
  /**
   * Its entry in the navigation. With `bar` it is also in the bar of a phone; the others are on the page More there.
   */
  nav?: { part: Part; key: string; bar?: true };
  /**
   * Its tab. Screens whose paths begin alike share one row of tabs. `name` replaces the screen's name; `waits` counts
   * the things to do there.
   */
  tab?: { name?: MessageDescriptor; for?: "admins"; waits?: (o: Overview) => number };
  /** The navigation entry to which the screen belongs, if its path does not show it. */
  under?: string;
};

/** A component in a folder of features. Its script and the folder's texts load when the screen is first opened. */
const page = <T extends object>(part: string, script: () => Promise<T>, name: keyof T & string) => ({
  load: async () => (await Promise.all([script(), loadTexts(part)]))[0],
  name,
});

/** How many alerts are open. */
export const alerts = (o: Overview) => Object.values(o.findings).reduce((all, n) => all + n, 0);

const days = (from: string, to: string) => `start_date=${firstDay(from)}&end_date=${lastDay(to)}`;

/**
 * Every screen of the app, in the order of the navigation and the search. Routes, navigation, tabs, search and early
 * requests are made from this list. So is routes.txt, the server's list of paths, which `npm run extract` writes.
 */
// biome-ignore format: a screen in few lines
export const screens = [
  { path: "/", page: page("overview", () => import("#/features/overview/OverviewPage"), "OverviewPage"), search: readMonth,
    asks: (month) => [
      `/api/v1/transactions/summary?group_by=day&${days(shift(month, -12), month)}`,
      `/api/v1/cashflow?${days(month, month)}&compare=previous_period`,
    ],
    name: msg`Overview`, icon: "overview", nav: { part: "daily", key: "o", bar: true },
    words: msg({ context: "search words", message: "home, dashboard, start, summary, this month, what needs attention" }) },
  { path: "/review", page: page("review", () => import("#/features/review/ReviewPage"), "ReviewPage"),
    asks: () => ["/api/v1/review/groups?limit=100", "/api/v1/categories"],
    name: msg`Review`, icon: "review", nav: { part: "daily", key: "r", bar: true },
    tab: { name: msg`Transactions`, waits: (o) => o.review.count },
    words: msg({ context: "search words", message: "inbox, approve, categorize, to do, new transactions, uncategorized" }) },
  { path: "/review/alerts", page: page("findings", () => import("#/features/findings/FindingsPage"), "FindingsPage"),
    name: msg`Alerts`, icon: "warn", tab: { waits: alerts },
    words: msg({ context: "search words", message: "findings, warnings, charged twice, duplicate charge, unusual, refunds, price increase, missed payment, overdue, fraud" }) },
  { path: "/review/links", page: page("links", () => import("#/features/links/LinksPage"), "LinksPage"),
    name: msg`Linked accounts`, icon: "link", tab: { waits: (o) => o.links.proposed + o.links.unsure },
    words: msg({ context: "search words", message: "transfers, duplicate account, counted twice, same account, pairs" }) },
  { path: "/review/suggestions", page: page("rules", () => import("#/features/rules/SuggestionsPage"), "SuggestionsPage"),
    name: msg`Suggestions`, icon: "bolt", tab: { waits: (o) => o.rules.proposed + (o.agents?.plans_waiting ?? 0) },
    words: msg({ context: "search words", message: "suggested rules, proposed changes, proposals, approvals, apply, discard" }) },
  { path: "/transactions", page: page("transactions", () => import("#/features/transactions/TransactionsPage"), "TransactionsPage"),
    search: readTransactions,
    asks: () => [
      "/api/v1/transactions/timeline",
      `/api/v1/transactions?fields=${encodeURIComponent(rowFields)}&limit=80`,
      "/api/v1/categories", "/api/v1/accounts", "/api/v1/views",
    ],
    name: msg`Transactions`, icon: "list", nav: { part: "daily", key: "t", bar: true },
    words: msg({ context: "search words", message: "payments, purchases, charges, filters, saved views, bookings" }) },
  { path: "/import", page: page("import", () => import("#/features/import/ImportPage"), "ImportPage"), search: readJob,
    name: msg`Import statement`, icon: "upload", for: "writers", under: "/transactions",
    words: msg({ context: "search words", message: "import, upload, csv, file, bank statement, load" }) },
  { path: "/accounts", page: page("accounts", () => import("#/features/accounts/AccountsPage"), "AccountsPage"), search: readAccounts,
    name: msg`Accounts`, icon: "bank", nav: { part: "daily", key: "a" },
    words: msg({ context: "search words", message: "balance, balances, banks, credit card, cards, savings, loan, mortgage, cash, balance check" }) },
  { path: "/accounts/$id", page: page("accounts", () => import("#/features/accounts/AccountPage"), "AccountPage"), search: readAccount },
  { path: "/banks/$id", page: page("accounts", () => import("#/features/accounts/BankPage"), "BankPage"), under: "/accounts" },
  { path: "/payees/$id", page: page("categories", () => import("#/features/categories/PayeePage"), "PayeePage"), under: "/settings" },
  { path: "/budget", page: page("targets", () => import("#/features/targets/TargetsPage"), "TargetsPage"), search: readMonth,
    name: msg`Budget`, icon: "budget", nav: { part: "plan", key: "b", bar: true },
    words: msg({ context: "search words", message: "budgets, targets, spending limit, goals, envelopes, left to spend, allowance" }) },
  { path: "/recurring", page: page("recurring", () => import("#/features/recurring/RecurringPage"), "RecurringPage"),
    name: msg`Recurring`, icon: "repeat", nav: { part: "plan", key: "y" }, tab: { name: msg`List` },
    words: msg({ context: "search words", message: "subscriptions, bills, contracts, standing orders, direct debits, salary, paycheck, regular payments" }) },
  { path: "/recurring/calendar", page: page("upcoming", () => import("#/features/upcoming/UpcomingPage"), "UpcomingPage"), search: readMonth,
    name: msg`Calendar`, icon: "calendar", tab: {},
    words: msg({ context: "search words", message: "upcoming, due, schedule, forecast, next payments, projected balances" }) },
  { path: "/recurring/$id", page: page("recurring", () => import("#/features/recurring/RecurringPage"), "ContractPage") },
  { path: "/cash-flow", page: page("cashflow", () => import("#/features/cashflow/CashflowPage"), "CashflowPage"), search: readFlow,
    name: msg`Cash flow`, icon: "flow", nav: { part: "insights", key: "f" },
    tab: { name: msg({ message: "Flow", context: "tab of Cash flow" }) },
    words: msg({ context: "search words", message: "income, spending, expenses, earnings, money in, money out, saved, chart, diagram" }) },
  { path: "/cash-flow/trends", page: page("months", () => import("#/features/months/MonthsPage"), "MonthsPage"), search: readMonths,
    name: msg`Trends`, icon: "table", tab: {},
    words: msg({ context: "search words", message: "months, monthly, by month, compare, statistics, average, over time, table" }) },
  { path: "/cash-flow/year", page: page("year", () => import("#/features/year/YearPage"), "YearPage"), search: readFlow,
    name: msg`Yearly summary`, icon: "calendar", tab: {},
    words: msg({ context: "search words", message: "year, annual, yearly, taxes, tax return, print, pdf, compare years, excluded from totals" }) },
  { path: "/net-worth", page: page("networth", () => import("#/features/networth/NetWorthPage"), "NetWorthPage"), search: readWorth,
    name: msg`Net worth`, icon: "worth", nav: { part: "insights", key: "n" },
    words: msg({ context: "search words", message: "assets, debts, wealth, liabilities, fortune, investments" }) },
  { path: "/reports", page: page("reports", () => import("#/features/reports/ReportsPage"), "ReportsPage"), search: readReports,
    name: msg`Reports`, icon: "report", nav: { part: "insights", key: "p" },
    words: msg({ context: "search words", message: "summaries, written reports, letters, unread" }) },
  { path: "/rules", page: page("rules", () => import("#/features/rules/RulesPage"), "RulesPage"),
    name: msg`Rules`, icon: "rules", nav: { part: "automate", key: "u" },
    words: msg({ context: "search words", message: "automatic categories, conditions, automate, filters for payees" }) },
  { path: "/rules/new", page: page("rules", () => import("#/features/rules/RulePage"), "NewRulePage"), search: readRule,
    name: msg`Create rule`, icon: "rules", for: "writers", kind: "action",
    words: msg({ context: "search words", message: "new rule, add rule, always categorize" }) },
  { path: "/rules/$id", page: page("rules", () => import("#/features/rules/RulePage"), "RulePage"), search: readRule },
  { path: "/agents", page: page("workflows", () => import("#/features/workflows/WorkflowsPage"), "WorkflowsPage"),
    name: msg`AI agents`, icon: "spark", nav: { part: "automate", key: "e" }, tab: { name: msg`Workflows` },
    words: msg({ context: "search words", message: "ai, workflows, artificial intelligence, automation, runs, scheduled" }) },
  { path: "/agents/assistants", page: page("agents", () => import("#/features/agents/AgentsPage"), "AgentsPage"),
    name: msg`Assistants`, icon: "spark", tab: {},
    words: msg({ context: "search words", message: "claude, chatgpt, mcp, connect an assistant, chatbot, revoke access" }) },
  { path: "/agents/limits", page: page("agents", () => import("#/features/agents/LimitsPage"), "LimitsPage"),
    name: msg`Limits`, icon: "pause", tab: {},
    words: msg({ context: "search words", message: "ai spending, ai cost, quiet hours, monthly limit, changes per day" }) },
  { path: "/workflows/$id", page: page("workflows", () => import("#/features/workflows/WorkflowPage"), "WorkflowPage"), under: "/agents" },
  { path: "/runs/$id", page: page("workflows", () => import("#/features/workflows/RunPage"), "RunPage"), under: "/agents" },
  { path: "/activity", page: page("activity", () => import("#/features/activity/ActivityPage"), "ActivityPage"), search: readActivity,
    name: msg`Activity`, icon: "activity", nav: { part: "automate", key: "h" },
    words: msg({ context: "search words", message: "undo, redo, history, log, audit, who changed, changes, revert" }) },
  { path: "/settings", page: page("settings", () => import("#/features/settings/SettingsPage"), "GeneralPage"),
    name: msg`Settings`, icon: "gear", nav: { part: "own", key: "s" }, tab: { name: msg`General`, for: "admins" },
    words: msg({ context: "search words", message: "preferences, options, configuration, setup" }) },
  { path: "/settings/members", page: page("household", () => import("#/features/household/HouseholdPage"), "HouseholdPage"),
    search: readHousehold, name: msg`Members`, icon: "people", tab: {},
    words: msg({ context: "search words", message: "invite, household, family, people, partner, users, add member, roles, permissions, share" }) },
  { path: "/settings/categories", page: page("categories", () => import("#/features/categories/CategoriesPage"), "CategoriesPage"),
    search: readCategories, name: msg`Categories`, icon: "tag", tab: { name: msg`Categories, tags & payees` },
    words: msg({ context: "search words", message: "category, subcategory, new category, rename category, merge categories" }) },
  { path: "/settings/keys", page: page("household", () => import("#/features/household/KeysPage"), "KeysPage"),
    name: msg`API keys`, icon: "key", for: "admins", tab: { for: "admins" },
    words: msg({ context: "search words", message: "token, api key, command line, script, create key, revoke" }) },
  { path: "/settings/providers", page: page("settings", () => import("#/features/settings/SettingsPage"), "ProvidersPage"),
    name: msg`Bank providers`, icon: "bank", for: "admins", tab: { for: "admins" },
    words: msg({ context: "search words", message: "provider, bank keys, webhooks of banks" }) },
  { path: "/settings/models", page: page("settings", () => import("#/features/settings/SettingsPage"), "ModelsPage"),
    name: msg`AI models`, icon: "spark", for: "admins", tab: { for: "admins" },
    words: msg({ context: "search words", message: "model, anthropic, openai, ollama, local model, default model" }) },
  { path: "/settings/notifications", page: page("settings", () => import("#/features/settings/SettingsPage"), "NotificationsPage"),
    name: msg`Notifications`, icon: "note", for: "admins", tab: { for: "admins" },
    words: msg({ context: "search words", message: "notify, webhook, ntfy, home assistant, messages, push, low balance, remind" }) },
  { path: "/settings/rates", page: page("settings", () => import("#/features/settings/SettingsPage"), "RatesPage"),
    name: msg`Exchange rates`, icon: "swap", for: "admins", tab: { for: "admins" },
    words: msg({ context: "search words", message: "currency, currencies, convert, conversion, dollar, foreign money" }) },
  { path: "/settings/export", page: page("settings", () => import("#/features/settings/SettingsPage"), "ExportPage"),
    name: msg`Export data`, icon: "download", for: "admins", tab: { for: "admins" },
    words: msg({ context: "search words", message: "export, download, backup, save everything, archive, json" }) },
  { path: "/settings/about", page: page("settings", () => import("#/features/settings/SettingsPage"), "AboutPage"),
    name: msg`About`, icon: "info", tab: {},
    words: msg({ context: "search words", message: "version, update, which version, server address" }) },
  { path: "/me", page: page("me", () => import("#/features/me/MePage"), "MePage"),
    name: msg`Your account`, icon: "people",
    words: msg({ context: "search words", message: "profile, me, sign-in methods, sessions, devices, language, date format, my assistants" }) },
  { path: "/more", name: msg`More`, icon: "menu",
    words: msg({ context: "search words", message: "menu, all pages, navigation" }) },
] as const satisfies readonly Screen[];

export type Path = (typeof screens)[number]["path"];
/** The path of a screen whose path has no parameter. */
export type FixedPath = Exclude<Path, `${string}$${string}`>;
