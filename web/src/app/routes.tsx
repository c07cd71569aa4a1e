import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
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
import { Empty } from "#/ui/Card";
import { pages } from "./pages";
import { Shell } from "./Shell";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Empty title="There is nothing at this address">Choose a screen from the navigation.</Empty>,
});

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: readMonth,
  component: lazyRouteComponent(pages["/"], "OverviewPage"),
});

const review = createRoute({
  getParentRoute: () => root,
  path: "/review",
  component: lazyRouteComponent(pages["/review"], "ReviewPage"),
});

const transactions = createRoute({
  getParentRoute: () => root,
  path: "/transactions",
  validateSearch: readTransactions,
  component: lazyRouteComponent(pages["/transactions"], "TransactionsPage"),
});

const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: readActivity,
  component: lazyRouteComponent(pages["/activity"], "ActivityPage"),
});

const accounts = createRoute({
  getParentRoute: () => root,
  path: "/accounts",
  validateSearch: readAccounts,
  component: lazyRouteComponent(pages["/accounts"], "AccountsPage"),
});

const cashflow = createRoute({
  getParentRoute: () => root,
  path: "/cash-flow",
  validateSearch: readFlow,
  component: lazyRouteComponent(pages["/cash-flow"], "CashflowPage"),
});

const worth = createRoute({
  getParentRoute: () => root,
  path: "/net-worth",
  validateSearch: readWorth,
  component: lazyRouteComponent(pages["/net-worth"], "NetWorthPage"),
});

const months = createRoute({
  getParentRoute: () => root,
  path: "/months",
  validateSearch: readMonths,
  component: lazyRouteComponent(pages["/months"], "MonthsPage"),
});

const targets = createRoute({
  getParentRoute: () => root,
  path: "/targets",
  validateSearch: readMonth,
  component: lazyRouteComponent(pages["/targets"], "TargetsPage"),
});

const findings = createRoute({
  getParentRoute: () => root,
  path: "/findings",
  component: lazyRouteComponent(pages["/findings"], "FindingsPage"),
});

const recurring = createRoute({
  getParentRoute: () => root,
  path: "/recurring",
  component: lazyRouteComponent(pages["/recurring"], "RecurringPage"),
});

const upcoming = createRoute({
  getParentRoute: () => root,
  path: "/upcoming",
  validateSearch: readMonth,
  component: lazyRouteComponent(pages["/upcoming"], "UpcomingPage"),
});

const account = createRoute({
  getParentRoute: () => root,
  path: "/accounts/$id",
  validateSearch: readAccount,
  component: lazyRouteComponent(pages["/accounts/$id"], "AccountPage"),
});

const bank = createRoute({
  getParentRoute: () => root,
  path: "/banks/$id",
  component: lazyRouteComponent(pages["/banks/$id"], "BankPage"),
});

const reports = createRoute({
  getParentRoute: () => root,
  path: "/reports",
  validateSearch: readReports,
  component: lazyRouteComponent(pages["/reports"], "ReportsPage"),
});

const categories = createRoute({
  getParentRoute: () => root,
  path: "/categories",
  validateSearch: readCategories,
  component: lazyRouteComponent(pages["/categories"], "CategoriesPage"),
});

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  component: lazyRouteComponent(pages["/agents"], "AgentsPage"),
});

const household = createRoute({
  getParentRoute: () => root,
  path: "/household",
  validateSearch: readHousehold,
  component: lazyRouteComponent(pages["/household"], "HouseholdPage"),
});

const importing = createRoute({
  getParentRoute: () => root,
  path: "/import",
  validateSearch: readJob,
  component: lazyRouteComponent(pages["/import"], "ImportPage"),
});

const links = createRoute({
  getParentRoute: () => root,
  path: "/links",
  component: lazyRouteComponent(pages["/links"], "LinksPage"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(pages["/settings"], "SettingsPage"),
});

const workflows = createRoute({
  getParentRoute: () => root,
  path: "/workflows",
  component: lazyRouteComponent(pages["/workflows"], "WorkflowsPage"),
});

const workflow = createRoute({
  getParentRoute: () => root,
  path: "/workflows/$id",
  component: lazyRouteComponent(pages["/workflows/$id"], "WorkflowPage"),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  component: lazyRouteComponent(pages["/runs/$id"], "RunPage"),
});

const rules = createRoute({
  getParentRoute: () => root,
  path: "/rules",
  component: lazyRouteComponent(pages["/rules"], "RulesPage"),
});

const newRule = createRoute({
  getParentRoute: () => root,
  path: "/rules/new",
  validateSearch: readRule,
  component: lazyRouteComponent(pages["/rules/new"], "NewRulePage"),
});

const rule = createRoute({
  getParentRoute: () => root,
  path: "/rules/$id",
  validateSearch: readRule,
  component: lazyRouteComponent(pages["/rules/$id"], "RulePage"),
});

const me = createRoute({
  getParentRoute: () => root,
  path: "/me",
  component: lazyRouteComponent(pages["/me"], "MePage"),
});

export const router = createRouter({
  // biome-ignore format: one a line
  routeTree: root.addChildren([
    overview,
    review,
    transactions,
    cashflow,
    worth,
    months,
    targets,
    recurring,
    upcoming,
    findings,
    accounts,
    account,
    bank,
    activity,
    reports,
    categories,
    agents,
    household,
    settings,
    importing,
    links,
    workflows,
    workflow,
    run,
    rules,
    newRule,
    rule,
    me,
  ]),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
