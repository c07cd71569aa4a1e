import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { IconName } from "#/ui/icons";

/** The action of a place that is not a page of the app. */
export type Act = "add" | "dark" | "light" | "system" | "amounts" | "keys" | "out";

export type Place = {
  name: MessageDescriptor;
  /** The words that people look for it by, with commas between them. Each language has its own. */
  words: MessageDescriptor;
  icon: IconName;
  kind: "page" | "setting" | "action";
  /** Stands in the navigation, and in the list before anything is typed. */
  main?: true;
  /** Who can use it; everyone if nothing is said. */
  for?: "writers" | "admins";
} & ({ to: string; search?: Record<string, string> } | { href: string } | { act: Act });

/** Every page, setting and action that the search finds. */
// biome-ignore format: a place in two lines
export const places = [
  { kind: "page", main: true, to: "/", icon: "overview", name: msg`Overview`,
    words: msg({ context: "search words", message: "home, dashboard, start, summary, this month, what needs attention" }) },
  { kind: "page", main: true, to: "/review", icon: "review", name: msg`Review`,
    words: msg({ context: "search words", message: "inbox, approve, categorize, to do, new transactions, uncategorized" }) },
  { kind: "page", main: true, to: "/transactions", icon: "list", name: msg`Transactions`,
    words: msg({ context: "search words", message: "payments, purchases, charges, filters, saved views, bookings" }) },
  { kind: "page", main: true, to: "/accounts", icon: "bank", name: msg`Accounts`,
    words: msg({ context: "search words", message: "balance, balances, banks, credit card, cards, savings, loan, mortgage, cash, balance check" }) },
  { kind: "page", main: true, to: "/budget", icon: "budget", name: msg`Budget`,
    words: msg({ context: "search words", message: "budgets, targets, spending limit, goals, envelopes, left to spend, allowance" }) },
  { kind: "page", main: true, to: "/recurring", icon: "repeat", name: msg`Recurring`,
    words: msg({ context: "search words", message: "subscriptions, bills, contracts, standing orders, direct debits, salary, paycheck, regular payments" }) },
  { kind: "page", main: true, to: "/cash-flow", icon: "flow", name: msg`Cash flow`,
    words: msg({ context: "search words", message: "income, spending, expenses, earnings, money in, money out, saved, chart, diagram" }) },
  { kind: "page", main: true, to: "/net-worth", icon: "worth", name: msg`Net worth`,
    words: msg({ context: "search words", message: "assets, debts, wealth, liabilities, fortune, investments" }) },
  { kind: "page", main: true, to: "/reports", icon: "report", name: msg`Reports`,
    words: msg({ context: "search words", message: "summaries, written reports, letters, unread" }) },
  { kind: "page", main: true, to: "/rules", icon: "rules", name: msg`Rules`,
    words: msg({ context: "search words", message: "automatic categories, conditions, automate, filters for payees" }) },
  { kind: "page", main: true, to: "/agents", icon: "spark", name: msg`AI agents`,
    words: msg({ context: "search words", message: "ai, workflows, artificial intelligence, automation, runs, scheduled" }) },
  { kind: "page", main: true, to: "/activity", icon: "activity", name: msg`Activity`,
    words: msg({ context: "search words", message: "undo, redo, history, log, audit, who changed, changes, revert" }) },
  { kind: "page", main: true, to: "/settings", icon: "gear", name: msg`Settings`,
    words: msg({ context: "search words", message: "preferences, options, configuration, setup" }) },
  { kind: "page", to: "/review/alerts", icon: "warn", name: msg`Alerts`,
    words: msg({ context: "search words", message: "findings, warnings, charged twice, duplicate charge, unusual, refunds, price increase, missed payment, overdue, fraud" }) },
  { kind: "page", to: "/review/links", icon: "link", name: msg`Linked accounts`,
    words: msg({ context: "search words", message: "transfers, duplicate account, counted twice, same account, pairs" }) },
  { kind: "page", to: "/review/suggestions", icon: "bolt", name: msg`Suggestions`,
    words: msg({ context: "search words", message: "suggested rules, proposed changes, proposals, approvals, apply, discard" }) },
  { kind: "page", for: "writers", to: "/import", icon: "upload", name: msg`Import statement`,
    words: msg({ context: "search words", message: "import, upload, csv, file, bank statement, load" }) },
  { kind: "page", to: "/recurring/calendar", icon: "calendar", name: msg`Calendar`,
    words: msg({ context: "search words", message: "upcoming, due, schedule, forecast, next payments, projected balances" }) },
  { kind: "page", to: "/cash-flow/trends", icon: "table", name: msg`Trends`,
    words: msg({ context: "search words", message: "months, monthly, month by month, compare, statistics, average, over time, table" }) },
  { kind: "page", to: "/cash-flow/year", icon: "calendar", name: msg`Yearly summary`,
    words: msg({ context: "search words", message: "year, annual, yearly, taxes, tax return, print, pdf, compare years, excluded from totals" }) },
  { kind: "page", to: "/agents/assistants", icon: "spark", name: msg`Assistants`,
    words: msg({ context: "search words", message: "claude, chatgpt, mcp, connect an assistant, chatbot, revoke access" }) },
  { kind: "page", to: "/agents/limits", icon: "pause", name: msg`Limits`,
    words: msg({ context: "search words", message: "ai spending, ai cost, quiet hours, monthly limit, changes per day" }) },
  { kind: "page", to: "/me", icon: "people", name: msg`Your account`,
    words: msg({ context: "search words", message: "profile, me, sign-in methods, sessions, devices, language, date format, my assistants" }) },
  { kind: "page", to: "/more", icon: "menu", name: msg`More`,
    words: msg({ context: "search words", message: "menu, all pages, navigation" }) },
  { kind: "setting", for: "admins", to: "/settings", icon: "home", name: msg`General`,
    words: msg({ context: "search words", message: "household name, default currency, time zone, sync frequency, review settings, log retention" }) },
  { kind: "setting", to: "/settings/members", icon: "people", name: msg`Members`,
    words: msg({ context: "search words", message: "invite, household, family, people, partner, users, add member, roles, permissions, share" }) },
  { kind: "setting", to: "/settings/categories", icon: "tag", name: msg`Categories`,
    words: msg({ context: "search words", message: "category, subcategory, new category, rename category, merge categories" }) },
  { kind: "setting", to: "/settings/categories", search: { tab: "tags" }, icon: "tag", name: msg`Tags`,
    words: msg({ context: "search words", message: "labels, tag, hashtags, projects, new tag" }) },
  { kind: "setting", to: "/settings/categories", search: { tab: "payees" }, icon: "cart", name: msg`Payees`,
    words: msg({ context: "search words", message: "merchants, shops, stores, payee, merge payees, rename payee" }) },
  { kind: "setting", for: "admins", to: "/settings/keys", icon: "key", name: msg`API keys`,
    words: msg({ context: "search words", message: "token, api key, command line, script, create key, revoke" }) },
  { kind: "setting", for: "admins", to: "/settings/providers", icon: "bank", name: msg`Bank providers`,
    words: msg({ context: "search words", message: "plaid, teller, provider, bank keys, webhooks of banks" }) },
  { kind: "setting", for: "admins", to: "/settings/models", icon: "spark", name: msg`AI models`,
    words: msg({ context: "search words", message: "model, anthropic, openai, ollama, local model, default model" }) },
  { kind: "setting", for: "admins", to: "/settings/notifications", icon: "note", name: msg`Notifications`,
    words: msg({ context: "search words", message: "notify, webhook, ntfy, home assistant, messages, push, low balance, remind" }) },
  { kind: "setting", for: "admins", to: "/settings/rates", icon: "swap", name: msg`Exchange rates`,
    words: msg({ context: "search words", message: "currency, currencies, convert, conversion, dollar, foreign money" }) },
  { kind: "setting", for: "admins", to: "/settings/export", icon: "download", name: msg`Export data`,
    words: msg({ context: "search words", message: "export, download, backup, save everything, archive, json" }) },
  { kind: "setting", to: "/settings/about", icon: "info", name: msg`About`,
    words: msg({ context: "search words", message: "version, update, which version, server address" }) },
  { kind: "action", for: "writers", act: "add", icon: "plus", name: msg`Add transaction`,
    words: msg({ context: "search words", message: "add, new transaction, enter, write down, cash purchase, manual transaction" }) },
  { kind: "action", for: "writers", to: "/accounts", icon: "bank", name: msg`Connect a bank`,
    words: msg({ context: "search words", message: "connect, link bank, add bank, add account, new account, reconnect, sync" }) },
  { kind: "action", for: "writers", to: "/rules/new", icon: "rules", name: msg`Create rule`,
    words: msg({ context: "search words", message: "new rule, add rule, always categorize" }) },
  { kind: "action", href: "/account", icon: "lock", name: msg`Change password`,
    words: msg({ context: "search words", message: "password, passkey, passkeys, recovery codes, two-factor, security, sign-in" }) },
  { kind: "action", act: "dark", icon: "screen", name: msg`Dark theme`,
    words: msg({ context: "search words", message: "dark, dark mode, night, theme, appearance, colors, black" }) },
  { kind: "action", act: "light", icon: "screen", name: msg`Light theme`,
    words: msg({ context: "search words", message: "light, light mode, day, theme, appearance, bright, white" }) },
  { kind: "action", act: "system", icon: "screen", name: msg`System theme`,
    words: msg({ context: "search words", message: "theme, appearance, automatic theme, like the system" }) },
  { kind: "action", act: "amounts", icon: "eye", name: msg`Hide or show amounts`,
    words: msg({ context: "search words", message: "hide, privacy, private, blur, amounts, show amounts" }) },
  { kind: "action", act: "keys", icon: "info", name: msg`Keyboard shortcuts`,
    words: msg({ context: "search words", message: "shortcuts, keyboard, hotkeys, keys, help" }) },
  { kind: "action", href: "/docs", icon: "book", name: msg`API reference`,
    words: msg({ context: "search words", message: "api, documentation, developer, openapi, rest" }) },
  { kind: "action", act: "out", icon: "x", name: msg`Sign out`,
    words: msg({ context: "search words", message: "log out, logout, sign off, leave" }) },
] as const satisfies readonly Place[];
