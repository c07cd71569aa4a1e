import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
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
import { MorePage } from "./More";
import { moved } from "./moved";
import { pages } from "./pages";
import { Shell } from "./Shell";
import { Fallen, Nowhere, Wrong } from "./Wrong";

const root = createRootRoute({ component: Shell, notFoundComponent: Nowhere, errorComponent: Fallen });
const above = { getParentRoute: () => root };

const overview = createRoute({
  ...above,
  path: "/",
  validateSearch: readMonth,
  component: lazyRouteComponent(pages["/"], "OverviewPage"),
});
const review = createRoute({
  ...above,
  path: "/review",
  component: lazyRouteComponent(pages["/review"], "ReviewPage"),
});
const alerts = createRoute({
  ...above,
  path: "/review/alerts",
  component: lazyRouteComponent(pages["/review/alerts"], "FindingsPage"),
});
const links = createRoute({
  ...above,
  path: "/review/links",
  component: lazyRouteComponent(pages["/review/links"], "LinksPage"),
});
const suggestions = createRoute({
  ...above,
  path: "/review/suggestions",
  component: lazyRouteComponent(pages["/review/suggestions"], "SuggestionsPage"),
});
const transactions = createRoute({
  ...above,
  path: "/transactions",
  validateSearch: readTransactions,
  component: lazyRouteComponent(pages["/transactions"], "TransactionsPage"),
});
const importing = createRoute({
  ...above,
  path: "/import",
  validateSearch: readJob,
  component: lazyRouteComponent(pages["/import"], "ImportPage"),
});
const accounts = createRoute({
  ...above,
  path: "/accounts",
  validateSearch: readAccounts,
  component: lazyRouteComponent(pages["/accounts"], "AccountsPage"),
});
const account = createRoute({
  ...above,
  path: "/accounts/$id",
  validateSearch: readAccount,
  component: lazyRouteComponent(pages["/accounts/$id"], "AccountPage"),
});
const bank = createRoute({
  ...above,
  path: "/banks/$id",
  component: lazyRouteComponent(pages["/banks/$id"], "BankPage"),
});
const payee = createRoute({
  ...above,
  path: "/payees/$id",
  component: lazyRouteComponent(pages["/payees/$id"], "PayeePage"),
});
const budget = createRoute({
  ...above,
  path: "/budget",
  validateSearch: readMonth,
  component: lazyRouteComponent(pages["/budget"], "TargetsPage"),
});
const recurring = createRoute({
  ...above,
  path: "/recurring",
  component: lazyRouteComponent(pages["/recurring"], "RecurringPage"),
});
const contract = createRoute({
  ...above,
  path: "/recurring/$id",
  component: lazyRouteComponent(pages["/recurring"], "ContractPage"),
});
const calendar = createRoute({
  ...above,
  path: "/recurring/calendar",
  validateSearch: readMonth,
  component: lazyRouteComponent(pages["/recurring/calendar"], "UpcomingPage"),
});
const cashflow = createRoute({
  ...above,
  path: "/cash-flow",
  validateSearch: readFlow,
  component: lazyRouteComponent(pages["/cash-flow"], "CashflowPage"),
});
const trends = createRoute({
  ...above,
  path: "/cash-flow/trends",
  validateSearch: readMonths,
  component: lazyRouteComponent(pages["/cash-flow/trends"], "MonthsPage"),
});
const year = createRoute({
  ...above,
  path: "/cash-flow/year",
  validateSearch: readFlow,
  component: lazyRouteComponent(pages["/cash-flow/year"], "YearPage"),
});
const worth = createRoute({
  ...above,
  path: "/net-worth",
  validateSearch: readWorth,
  component: lazyRouteComponent(pages["/net-worth"], "NetWorthPage"),
});
const reports = createRoute({
  ...above,
  path: "/reports",
  validateSearch: readReports,
  component: lazyRouteComponent(pages["/reports"], "ReportsPage"),
});
const rules = createRoute({ ...above, path: "/rules", component: lazyRouteComponent(pages["/rules"], "RulesPage") });
const newRule = createRoute({
  ...above,
  path: "/rules/new",
  validateSearch: readRule,
  component: lazyRouteComponent(pages["/rules/new"], "NewRulePage"),
});
const rule = createRoute({
  ...above,
  path: "/rules/$id",
  validateSearch: readRule,
  component: lazyRouteComponent(pages["/rules/$id"], "RulePage"),
});
const workflows = createRoute({
  ...above,
  path: "/agents",
  component: lazyRouteComponent(pages["/agents"], "WorkflowsPage"),
});
const assistants = createRoute({
  ...above,
  path: "/agents/assistants",
  component: lazyRouteComponent(pages["/agents/assistants"], "AgentsPage"),
});
const limits = createRoute({
  ...above,
  path: "/agents/limits",
  component: lazyRouteComponent(pages["/agents/limits"], "LimitsPage"),
});
const workflow = createRoute({
  ...above,
  path: "/workflows/$id",
  component: lazyRouteComponent(pages["/workflows/$id"], "WorkflowPage"),
});
const run = createRoute({ ...above, path: "/runs/$id", component: lazyRouteComponent(pages["/runs/$id"], "RunPage") });
const activity = createRoute({
  ...above,
  path: "/activity",
  validateSearch: readActivity,
  component: lazyRouteComponent(pages["/activity"], "ActivityPage"),
});
const settings = createRoute({
  ...above,
  path: "/settings",
  component: lazyRouteComponent(pages["/settings"], "GeneralPage"),
});
const members = createRoute({
  ...above,
  path: "/settings/members",
  validateSearch: readHousehold,
  component: lazyRouteComponent(pages["/settings/members"], "HouseholdPage"),
});
const categories = createRoute({
  ...above,
  path: "/settings/categories",
  validateSearch: readCategories,
  component: lazyRouteComponent(pages["/settings/categories"], "CategoriesPage"),
});
const keys = createRoute({
  ...above,
  path: "/settings/keys",
  component: lazyRouteComponent(pages["/settings/keys"], "KeysPage"),
});
const providers = createRoute({
  ...above,
  path: "/settings/providers",
  component: lazyRouteComponent(pages["/settings/providers"], "ProvidersPage"),
});
const models = createRoute({
  ...above,
  path: "/settings/models",
  component: lazyRouteComponent(pages["/settings/models"], "ModelsPage"),
});
const notifications = createRoute({
  ...above,
  path: "/settings/notifications",
  component: lazyRouteComponent(pages["/settings/notifications"], "NotificationsPage"),
});
const rates = createRoute({
  ...above,
  path: "/settings/rates",
  component: lazyRouteComponent(pages["/settings/rates"], "RatesPage"),
});
const exporting = createRoute({
  ...above,
  path: "/settings/export",
  component: lazyRouteComponent(pages["/settings/export"], "ExportPage"),
});
const about = createRoute({
  ...above,
  path: "/settings/about",
  component: lazyRouteComponent(pages["/settings/about"], "AboutPage"),
});
const me = createRoute({ ...above, path: "/me", component: lazyRouteComponent(pages["/me"], "MePage") });

const more = createRoute({ ...above, path: "/more", component: MorePage });

/** Old addresses in links that people wrote lead on, with what stands behind their path. No types know them: no link of ours leads there. */
const old = moved.map(([path, to]) =>
  createRoute({
    ...above,
    path,
    beforeLoad: ({ location: { search, hash } }) => {
      throw redirect({ to, search, hash, replace: true } as Parameters<typeof redirect>[0]);
    },
  }),
) as [];

export const router = createRouter({
  // biome-ignore format: one a line
  routeTree: root.addChildren([
    overview,
    review,
    alerts,
    links,
    suggestions,
    transactions,
    importing,
    accounts,
    account,
    bank,
    budget,
    recurring,
    calendar,
    contract,
    cashflow,
    trends,
    year,
    worth,
    reports,
    rules,
    newRule,
    rule,
    workflows,
    assistants,
    limits,
    workflow,
    run,
    activity,
    settings,
    members,
    categories,
    payee,
    keys,
    providers,
    models,
    notifications,
    rates,
    exporting,
    about,
    me,
    more,
    ...old,
  ]),
  defaultErrorComponent: Wrong,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
