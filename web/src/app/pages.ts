import { loadTexts } from "#/lib/language";

/** A screen is there when its script and its texts are. */
const page =
  <T>(part: string, script: () => Promise<T>) =>
  async () =>
    (await Promise.all([script(), loadTexts(part)]))[0];

// Several screens are of one script.
const settings = page("settings", () => import("#/features/settings/SettingsPage"));
const rule = page("rules", () => import("#/features/rules/RulePage"));

/** The scripts of the screens, by their paths. Each is loaded when its screen is first opened. */
export const pages = {
  "/": page("overview", () => import("#/features/overview/OverviewPage")),
  "/review": page("review", () => import("#/features/review/ReviewPage")),
  "/review/alerts": page("findings", () => import("#/features/findings/FindingsPage")),
  "/review/links": page("links", () => import("#/features/links/LinksPage")),
  "/review/suggestions": page("rules", () => import("#/features/rules/SuggestionsPage")),
  "/transactions": page("transactions", () => import("#/features/transactions/TransactionsPage")),
  "/import": page("import", () => import("#/features/import/ImportPage")),
  "/accounts": page("accounts", () => import("#/features/accounts/AccountsPage")),
  "/accounts/$id": page("accounts", () => import("#/features/accounts/AccountPage")),
  "/banks/$id": page("accounts", () => import("#/features/accounts/BankPage")),
  "/payees/$id": page("categories", () => import("#/features/categories/PayeePage")),
  "/budget": page("targets", () => import("#/features/targets/TargetsPage")),
  "/recurring": page("recurring", () => import("#/features/recurring/RecurringPage")),
  "/recurring/calendar": page("upcoming", () => import("#/features/upcoming/UpcomingPage")),
  "/cash-flow": page("cashflow", () => import("#/features/cashflow/CashflowPage")),
  "/cash-flow/trends": page("months", () => import("#/features/months/MonthsPage")),
  "/cash-flow/year": page("year", () => import("#/features/year/YearPage")),
  "/net-worth": page("networth", () => import("#/features/networth/NetWorthPage")),
  "/reports": page("reports", () => import("#/features/reports/ReportsPage")),
  "/rules": page("rules", () => import("#/features/rules/RulesPage")),
  "/rules/new": rule,
  "/rules/$id": rule,
  "/agents": page("workflows", () => import("#/features/workflows/WorkflowsPage")),
  "/agents/assistants": page("agents", () => import("#/features/agents/AgentsPage")),
  "/agents/limits": page("agents", () => import("#/features/agents/LimitsPage")),
  "/workflows/$id": page("workflows", () => import("#/features/workflows/WorkflowPage")),
  "/runs/$id": page("workflows", () => import("#/features/workflows/RunPage")),
  "/activity": page("activity", () => import("#/features/activity/ActivityPage")),
  "/settings": settings,
  "/settings/members": page("household", () => import("#/features/household/HouseholdPage")),
  "/settings/categories": page("categories", () => import("#/features/categories/CategoriesPage")),
  "/settings/keys": page("household", () => import("#/features/household/KeysPage")),
  "/settings/providers": settings,
  "/settings/models": settings,
  "/settings/notifications": settings,
  "/settings/rates": settings,
  "/settings/export": settings,
  "/settings/about": settings,
  "/me": page("me", () => import("#/features/me/MePage")),
};
