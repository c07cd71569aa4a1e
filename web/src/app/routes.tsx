import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { readActivity, readMonth, readTransactions } from "#/lib/address";
import { Empty } from "#/ui/Card";
import { Shell } from "./Shell";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Empty title="There is nothing at this address">Choose a screen from the navigation.</Empty>,
});

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: readMonth,
  component: lazyRouteComponent(() => import("#/features/overview/OverviewPage"), "OverviewPage"),
});

const review = createRoute({
  getParentRoute: () => root,
  path: "/review",
  component: lazyRouteComponent(() => import("#/features/review/ReviewPage"), "ReviewPage"),
});

const transactions = createRoute({
  getParentRoute: () => root,
  path: "/transactions",
  validateSearch: readTransactions,
  component: lazyRouteComponent(() => import("#/features/transactions/TransactionsPage"), "TransactionsPage"),
});

const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: readActivity,
  component: lazyRouteComponent(() => import("#/features/activity/ActivityPage"), "ActivityPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([overview, review, transactions, activity]),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
